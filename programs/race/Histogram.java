// Two threads count into the same elements of an array without a lock.
// fissure: must-find racer data-race Histogram.buckets
// fissure: must-find eraser data-race Histogram.buckets
public class Histogram {
    private final int[] buckets = new int[8];

    void count(int seed) {
        int state = seed;
        for (int i = 0; i < 1000; i++) {
            state = state * 1103515245 + 12345;
            buckets[(state >>> 16) & 7]++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Histogram histogram = new Histogram();
        Thread first = new Thread(() -> histogram.count(1));
        Thread second = new Thread(() -> histogram.count(2));
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
