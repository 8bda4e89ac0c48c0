import java.util.Random;
import java.util.Vector;

// Monte Carlo simulation of prices: tasks are objects, each path is an array of its own, and results go into a shared vector.
public class MonteCarlo {
    private static final int RUNS = 4000;
    private static final int STEPS = 250;

    static final class Task {
        final int number;
        final long seed;

        Task(int number, long seed) {
            this.number = number;
            this.seed = seed;
        }
    }

    static class Path {
        private final double[] values;
        private double start;
        private double drift;
        private double volatility;

        Path(int length) {
            values = new double[length];
        }

        void set(double start, double drift, double volatility) {
            this.start = start;
            this.drift = drift;
            this.volatility = volatility;
        }

        void walk(Random random) {
            values[0] = start;
            double step = 1.0 / values.length;
            double mean = (drift - 0.5 * volatility * volatility) * step;
            double deviation = volatility * Math.sqrt(step);
            for (int i = 1; i < values.length; i++) {
                values[i] = values[i - 1] * Math.exp(mean + deviation * random.nextGaussian());
            }
        }

        double expectedReturn() {
            double sum = 0;
            for (int i = 1; i < values.length; i++) {
                sum += Math.log(values[i] / values[i - 1]);
            }
            return sum;
        }
    }

    static final class Result {
        private int number;
        private double expected;

        int number() {
            return number;
        }

        double expected() {
            return expected;
        }

        void set(int number, double expected) {
            this.number = number;
            this.expected = expected;
        }
    }

    private final Vector<Task> tasks = new Vector<>();
    private final Vector<Result> results = new Vector<>();

    void run(int thread, int threads) {
        for (int i = thread; i < RUNS; i += threads) {
            Task task = tasks.get(i);
            Path path = new Path(STEPS);
            path.set(100.0, 0.03, 0.2);
            path.walk(new Random(task.seed));
            Result result = new Result();
            result.set(task.number, path.expectedReturn());
            results.add(result);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        Kernel.measure(args, scale -> {
            MonteCarlo last = null;
            for (int repeat = 0; repeat < 2 * scale; repeat++) {
                last = new MonteCarlo();
                for (int i = 0; i < RUNS; i++) {
                    last.tasks.add(new Task(i, i * 11L));
                }
                MonteCarlo current = last;
                Kernel.parts(threads, t -> current.run(t, threads));
                long numbers = 0;
                double mean = 0;
                for (Result result : last.results) {
                    numbers += result.number();
                    mean += result.expected() / RUNS;
                }
                Kernel.check(numbers == RUNS * (RUNS - 1L) / 2, "results are missing");
                Kernel.check(Math.abs(mean - 0.01) < 0.02, "the mean return is wrong");
            }
            return last;
        });
    }
}
