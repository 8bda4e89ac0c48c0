// Arrays of arrays of doubles: matrices are multiplied by two threads, each with its own half of the rows.
public class Matrix {
    private static final int SIZE = 200;

    static double[][] filled(int seed) {
        double[][] matrix = new double[SIZE][SIZE];
        for (int row = 0; row < SIZE; row++) {
            for (int column = 0; column < SIZE; column++) {
                matrix[row][column] = (row * seed + column) % 10;
            }
        }
        return matrix;
    }

    static void multiply(double[][] left, double[][] right, double[][] product, int from, int to) {
        for (int row = from; row < to; row++) {
            double[] target = product[row];
            for (int column = 0; column < SIZE; column++) {
                target[column] = 0;
            }
            for (int inner = 0; inner < SIZE; inner++) {
                double factor = left[row][inner];
                double[] source = right[inner];
                for (int column = 0; column < SIZE; column++) {
                    target[column] += factor * source[column];
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        double[][] left = filled(3);
        double[][] right = filled(7);
        double[][] product = new double[SIZE][SIZE];
        Kernel.measure(args, scale -> {
            Thread upper = new Thread(() -> repeat(left, right, product, 0, SIZE / 2, 100 * scale));
            Thread lower = new Thread(() -> repeat(left, right, product, SIZE / 2, SIZE, 100 * scale));
            upper.start();
            lower.start();
            upper.join();
            lower.join();
            return product;
        });
    }

    static void repeat(double[][] left, double[][] right, double[][] product, int from, int to, int rounds) {
        for (int round = 0; round < rounds; round++) {
            multiply(left, right, product, from, to);
        }
    }
}
