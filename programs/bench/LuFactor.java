import java.util.concurrent.CyclicBarrier;

// LU factorisation with partial pivoting: threads share the columns of a matrix and meet at a barrier after each step.
public class LuFactor {
    private static final int SIZE = 500;

    private final double[][] columns = new double[SIZE][SIZE];
    private final int[] pivots = new int[SIZE];
    private final CyclicBarrier barrier;
    private final int threads;

    LuFactor(int threads) {
        this.threads = threads;
        this.barrier = new CyclicBarrier(threads);
    }

    private static void fill(double[][] columns) {
        int seed = 1325;
        for (int i = 0; i < SIZE; i++) {
            for (int j = 0; j < SIZE; j++) {
                seed = 3125 * seed % 65536;
                columns[j][i] = (seed - 32768.0) / 16384.0;
            }
        }
    }

    private static int largest(int n, double[] column, int from) {
        int best = 0;
        double most = Math.abs(column[from]);
        for (int i = 1; i < n; i++) {
            double value = Math.abs(column[from + i]);
            if (value > most) {
                best = i;
                most = value;
            }
        }
        return best;
    }

    private static void scale(int n, double factor, double[] column, int from) {
        for (int i = 0; i < n; i++) {
            column[i + from] *= factor;
        }
    }

    private static void addMultiple(int n, double factor, double[] x, int xFrom, double[] y, int yFrom) {
        if (n <= 0 || factor == 0) {
            return;
        }
        for (int i = 0; i < n; i++) {
            y[i + yFrom] += factor * x[i + xFrom];
        }
    }

    void factor(int thread) throws Exception {
        for (int k = 0; k < SIZE - 1; k++) {
            double[] column = columns[k];
            int pivot = largest(SIZE - k, column, k) + k;
            barrier.await();
            if (thread == 0) {
                pivots[k] = pivot;
                double swapped = column[pivot];
                column[pivot] = column[k];
                column[k] = swapped;
                scale(SIZE - k - 1, -1.0 / column[k], column, k + 1);
            }
            barrier.await();
            for (int j = k + 1 + thread; j < SIZE; j += threads) {
                double[] other = columns[j];
                double value = other[pivot];
                if (pivot != k) {
                    other[pivot] = other[k];
                    other[k] = value;
                }
                addMultiple(SIZE - k - 1, value, column, k + 1, other, k + 1);
            }
            barrier.await();
        }
        if (thread == 0) {
            pivots[SIZE - 1] = SIZE - 1;
        }
    }

    private void solve(double[] b) {
        for (int k = 0; k < SIZE - 1; k++) {
            int pivot = pivots[k];
            double value = b[pivot];
            if (pivot != k) {
                b[pivot] = b[k];
                b[k] = value;
            }
            addMultiple(SIZE - k - 1, value, columns[k], k + 1, b, k + 1);
        }
        for (int k = SIZE - 1; k >= 0; k--) {
            b[k] /= columns[k][k];
            addMultiple(k, -b[k], columns[k], 0, b, 0);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        Kernel.measure(args, scale -> {
            LuFactor last = null;
            for (int repeat = 0; repeat < 4 * scale; repeat++) {
                last = new LuFactor(threads);
                fill(last.columns);
                double[] b = new double[SIZE];
                for (double[] column : last.columns) {
                    for (int i = 0; i < SIZE; i++) {
                        b[i] += column[i];
                    }
                }
                Kernel.parts(threads, last::factor);
                last.solve(b);
                for (double x : b) {
                    Kernel.check(Math.abs(x - 1.0) < 1e-6, "the solution is not 1");
                }
            }
            return last;
        });
    }
}
