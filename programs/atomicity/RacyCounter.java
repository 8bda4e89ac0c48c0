// Each thread increments under a lock of its own: the increment is not atomic.
// fissure: must-find atomizer atomicity-violation RacyCounter.count:9
// fissure: must-find racer data-race RacyCounter.counted
public class RacyCounter {
    private static int counted;

    static void count() {
        Object lock = new Object();
        synchronized (lock) {
            counted++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(RacyCounter::count);
        Thread other = new Thread(RacyCounter::count);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
