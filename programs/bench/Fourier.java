// Coefficients of a Fourier series: much arithmetic, few accesses.
public class Fourier {
    private static final int COUNT = 400;
    private static final int INTERVALS = 1000;

    private static double at(double x, double omega, int part) {
        double value = Math.pow(x + 1.0, x);
        return part == 0 ? value : part == 1 ? value * Math.cos(omega * x) : value * Math.sin(omega * x);
    }

    private static double integral(double from, double to, double omega, int part) {
        double x = from;
        double dx = (to - from) / INTERVALS;
        double sum = at(from, omega, part) / 2;
        for (int step = 1; step < INTERVALS; step++) {
            x += dx;
            sum += at(x, omega, part);
        }
        return (sum + at(to, omega, part) / 2) * dx;
    }

    static void compute(double[][] result, int from, int to) {
        for (int i = Math.max(1, from); i < to; i++) {
            result[0][i] = integral(0, 2, Math.PI * i, 1);
            result[1][i] = integral(0, 2, Math.PI * i, 2);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        Kernel.measure(args, scale -> {
            double[][] result = new double[2][COUNT];
            for (int repeat = 0; repeat < scale; repeat++) {
                result[0][0] = integral(0, 2, 0, 0) / 2;
                Kernel.parts(threads, t ->
                        compute(result, COUNT * t / threads, COUNT * (t + 1) / threads));
            }
            double[] first = {2.88192, 1.13404, 0.36222};
            double[] second = {0, -1.88209, -1.16481};
            for (int i = 0; i < 3; i++) {
                Kernel.check(Math.abs(result[0][i] - first[i]) < 1e-3, "a coefficient is wrong");
                Kernel.check(Math.abs(result[1][i] - second[i]) < 1e-3, "a coefficient is wrong");
            }
            return result;
        });
    }
}
