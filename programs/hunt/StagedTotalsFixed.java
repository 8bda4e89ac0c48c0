// Many writers update two totals, both under one lock, and the auditor reads both under it.
public class StagedTotalsFixed {
    private static final Object LOCK = new Object();
    private static int booked;
    private static int paid;

    private static void book(int amount) {
        synchronized (LOCK) {
            booked += amount;
            paid += amount;
        }
    }

    private static void audit() {
        synchronized (LOCK) {
            if (booked != 0 && paid == 0) {
                throw new IllegalStateException("booked " + booked + ", and nothing is paid");
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread[] threads = new Thread[81];
        for (int i = 0; i < threads.length - 1; i++) {
            threads[i] = new Thread(() -> book(3), "writer " + i);
        }
        threads[threads.length - 1] = new Thread(StagedTotalsFixed::audit, "auditor");
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
