// An exception leaves a synchronized method and nested synchronized blocks, so their locks are free again when the
// handler counts the failure.
// fissure: must-find racer data-race ExceptionRelease.failures
// fissure: must-find eraser data-race ExceptionRelease.failures
public class ExceptionRelease {
    private final Object inner = new Object();
    private int attempts;
    private int failures;

    synchronized void attempt(int amount) {
        attempts++;
        synchronized (inner) {
            if (amount >= 0) {
                throw new IllegalArgumentException("refused");
            }
        }
    }

    void work() {
        for (int i = 0; i < 100; i++) {
            try {
                attempt(i);
            } catch (IllegalArgumentException e) {
                failures++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ExceptionRelease account = new ExceptionRelease();
        Thread first = new Thread(account::work);
        Thread second = new Thread(account::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
