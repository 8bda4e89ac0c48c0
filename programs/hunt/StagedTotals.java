// Many writers update two totals, each under a lock of its own. A reader that comes after a first stage and before every second stage sees
// totals that do not fit. Most writers must be held back between their stages at the same time.
// fissure: must-be-bug failure StagedTotals.audit
public class StagedTotals {
    private static final Object BOOKED_LOCK = new Object();
    private static final Object PAID_LOCK = new Object();
    private static int booked;
    private static int paid;

    private static void book(int amount) {
        synchronized (BOOKED_LOCK) {
            booked += amount;
        }
        synchronized (PAID_LOCK) {
            paid += amount;
        }
    }

    private static void audit() {
        int known;
        synchronized (BOOKED_LOCK) {
            known = booked;
        }
        if (known == 0) {
            return;
        }
        synchronized (PAID_LOCK) {
            if (paid == 0) {
                throw new IllegalStateException("booked " + known + ", and nothing is paid");
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread[] threads = new Thread[81];
        for (int i = 0; i < threads.length - 1; i++) {
            threads[i] = new Thread(() -> book(3), "writer " + i);
        }
        threads[threads.length - 1] = new Thread(StagedTotals::audit, "auditor");
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
