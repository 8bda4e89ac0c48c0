// One array, but each thread has a slice of its own; main adds them up once both have ended.
public class HistogramFixed {
    private final int[] buckets = new int[16];

    void count(int seed, int slice) {
        int state = seed;
        for (int i = 0; i < 1000; i++) {
            state = state * 1103515245 + 12345;
            buckets[slice * 8 + ((state >>> 16) & 7)]++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        HistogramFixed histogram = new HistogramFixed();
        Thread first = new Thread(() -> histogram.count(1, 0));
        Thread second = new Thread(() -> histogram.count(2, 1));
        first.start();
        second.start();
        first.join();
        second.join();
        int total = 0;
        for (int bucket : histogram.buckets) {
            total += bucket;
        }
        if (total != 2000) {
            throw new AssertionError(total);
        }
        System.out.println("done");
    }
}
