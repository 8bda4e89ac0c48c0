// The correct twin: one lock guards the static long and double fields and one lock those of the object.
public class WideFieldsFixed {
    private static long staticLong;
    private static double staticDouble;
    private long total;
    private double mean;

    synchronized void add(long sample) {
        total += sample;
        mean = mean * 0.5 + sample * 0.5;
        addForAll(sample, mean);
    }

    static synchronized void addForAll(long sample, double mean) {
        staticLong += sample;
        staticDouble += mean;
    }

    void work() {
        for (int i = 0; i < 100; i++) {
            add(i);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WideFieldsFixed statistics = new WideFieldsFixed();
        Thread first = new Thread(statistics::work);
        Thread second = new Thread(statistics::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (staticLong != 9900 || statistics.total != 9900 || Double.isNaN(staticDouble)) {
            throw new AssertionError(staticLong);
        }
        System.out.println("done");
    }
}
