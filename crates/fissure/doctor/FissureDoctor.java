/**
 * What `fissure doctor` runs: two threads count in one field, with a lock or without one.
 *
 * <p>The field has no initialiser and is read by nobody else, so that the only possible race is the planted one.
 */
final class FissureDoctor {
    private static final int ROUNDS = 1000;

    int value;

    public static void main(String[] args) throws InterruptedException {
        FissureDoctor shared = new FissureDoctor();
        Runnable work = args[0].equals("locked") ? shared::countWithLock : shared::countWithoutLock;
        Thread first = new Thread(work, "first");
        Thread second = new Thread(work, "second");
        first.start();
        second.start();
        first.join();
        second.join();
    }

    private void countWithoutLock() {
        for (int i = 0; i < ROUNDS; i++) {
            value++;
        }
    }

    private void countWithLock() {
        for (int i = 0; i < ROUNDS; i++) {
            synchronized (this) {
                value++;
            }
        }
    }
}
