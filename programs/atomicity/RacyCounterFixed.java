// The correct twin: all threads increment under the same lock.
public class RacyCounterFixed {
    private static final Object lock = new Object();
    private static int counted;

    static void count() {
        synchronized (lock) {
            counted++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(RacyCounterFixed::count);
        Thread other = new Thread(RacyCounterFixed::count);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
