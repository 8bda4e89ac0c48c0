// long and double values take two slots in the bytecode; static and instance fields of both types are accessed without a lock.
// fissure: must-find racer data-race WideFields.staticLong
// fissure: must-find racer data-race WideFields.staticDouble
// fissure: must-find racer data-race WideFields.total
// fissure: must-find racer data-race WideFields.mean
// fissure: must-find eraser data-race WideFields.staticLong
// fissure: must-find eraser data-race WideFields.staticDouble
// fissure: must-find eraser data-race WideFields.total
// fissure: must-find eraser data-race WideFields.mean
public class WideFields {
    private static long staticLong;
    private static double staticDouble;
    private long total;
    private double mean;

    void add(long sample) {
        total += sample;
        mean = mean * 0.5 + sample * 0.5;
        staticLong += sample;
        staticDouble += mean;
    }

    void work() {
        for (int i = 0; i < 100; i++) {
            add(i);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WideFields statistics = new WideFields();
        Thread first = new Thread(statistics::work);
        Thread second = new Thread(statistics::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
