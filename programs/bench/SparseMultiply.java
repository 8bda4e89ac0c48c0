import java.util.Random;

// Multiplication of a sparse matrix with a vector: index arrays and values are shared, each thread adds to its own rows.
public class SparseMultiply {
    private static final int SIZE = 25_000;
    private static final int ENTRIES = 125_000;
    private static final int ROUNDS = 200;

    static void multiply(double[] y, double[] values, int[] row, int[] column, double[] x, int from, int to) {
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = from; i < to; i++) {
                y[row[i]] += x[column[i]] * values[i];
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        Random random = new Random(10101010);
        double[] x = new double[SIZE];
        for (int i = 0; i < SIZE; i++) {
            x[i] = random.nextDouble() * 1e-6;
        }
        int[] row = new int[ENTRIES];
        int[] column = new int[ENTRIES];
        double[] values = new double[ENTRIES];
        double expected = 0;
        for (int i = 0; i < ENTRIES; i++) {
            row[i] = (int) ((long) i * SIZE / ENTRIES);
            column[i] = random.nextInt(SIZE);
            values[i] = random.nextDouble();
            expected += x[column[i]] * values[i] * ROUNDS;
        }
        int[] limits = new int[threads + 1];
        for (int t = 1; t <= threads; t++) {
            limits[t] = SIZE * t / threads * (ENTRIES / SIZE);
        }
        double total = expected;
        Kernel.measure(args, scale -> {
            double[] y = new double[SIZE];
            for (int repeat = 0; repeat < scale; repeat++) {
                Kernel.parts(threads, t -> multiply(y, values, row, column, x, limits[t], limits[t + 1]));
            }
            double sum = 0;
            for (double value : y) {
                sum += value;
            }
            Kernel.check(Math.abs(sum / scale - total) < 1e-6 * total, "the product is wrong");
            return y;
        });
    }
}
