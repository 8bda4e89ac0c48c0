import java.util.concurrent.CyclicBarrier;

// Red-black successive over-relaxation on a shared matrix: each thread updates its rows and reads those of its neighbours.
public class Relaxation {
    private static final int SIZE = 500;
    private static final int ROUNDS = 60;

    static void relax(double[][] grid, int thread, int threads, CyclicBarrier barrier) throws Exception {
        double omega = 1.25;
        double quarter = omega * 0.25;
        double rest = 1.0 - omega;
        int from = 1 + (SIZE - 2) * thread / threads;
        int to = 1 + (SIZE - 2) * (thread + 1) / threads;
        for (int half = 0; half < 2 * ROUNDS; half++) {
            for (int i = from; i < to; i++) {
                double[] row = grid[i];
                double[] above = grid[i - 1];
                double[] below = grid[i + 1];
                for (int j = 1 + (i + half) % 2; j < SIZE - 1; j += 2) {
                    row[j] = quarter * (above[j] + below[j] + row[j - 1] + row[j + 1]) + rest * row[j];
                }
            }
            barrier.await();
        }
    }

    private static double[][] grid() {
        double[][] grid = new double[SIZE][SIZE];
        for (int i = 0; i < SIZE; i++) {
            for (int j = 0; j < SIZE; j++) {
                grid[i][j] = (i * 31 + j * 17) % 101 * 1e-6;
            }
        }
        return grid;
    }

    private static double sum(double[][] grid) {
        double sum = 0;
        for (double[] row : grid) {
            for (double value : row) {
                sum += value;
            }
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int threads = Kernel.threads(args);
        double[][] alone = grid();
        relax(alone, 0, 1, new CyclicBarrier(1));
        double expected = sum(alone);
        Kernel.measure(args, scale -> {
            double[][] grid = null;
            for (int repeat = 0; repeat < 4 * scale; repeat++) {
                grid = grid();
                double[][] current = grid;
                CyclicBarrier barrier = new CyclicBarrier(threads);
                Kernel.parts(threads, t -> relax(current, t, threads, barrier));
                Kernel.check(sum(grid) == expected, "the sum is wrong");
            }
            return grid;
        });
    }
}
