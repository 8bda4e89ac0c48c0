// The exception leaves the inner block and the inner method only; the handler still holds the outer lock.
public class ExceptionReleaseFixed {
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

    synchronized void attemptAndCount(int amount) {
        try {
            attempt(amount);
        } catch (IllegalArgumentException e) {
            failures++;
        }
    }

    void work() {
        for (int i = 0; i < 100; i++) {
            attemptAndCount(i);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ExceptionReleaseFixed account = new ExceptionReleaseFixed();
        Thread first = new Thread(account::work);
        Thread second = new Thread(account::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (account.failures != 200 || account.attempts != 200) {
            throw new AssertionError(account.failures);
        }
        System.out.println("done");
    }
}
