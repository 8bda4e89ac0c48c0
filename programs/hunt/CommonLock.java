// Section 5.4 of the AtomFuzzer paper, the second kind of false warning: the inner lock is only taken while the outer one is held.
// fissure: must-warn atomicity-violation CommonLock.step:*
public class CommonLock {
    private static final Object OUTER = new Object();
    private static final Object INNER = new Object();
    private static int value;

    static void step() {
        synchronized (OUTER) {
            synchronized (INNER) {
                value++;
            }
            synchronized (INNER) {
                value++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(CommonLock::step);
        Thread second = new Thread(CommonLock::step);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
