// Section 5.4 of the AtomFuzzer paper, the first kind of false warning: the main thread initializes in the single-threaded phase.
// Fissure must not report it, because no remote access is possible before a second thread exists.
public class InitializedBefore {
    private static final Object LOCK = new Object();
    private static int value;

    static synchronized void initialize() {
        synchronized (LOCK) {
            value = 1;
        }
        synchronized (LOCK) {
            value = 2;
        }
    }

    static void use() {
        synchronized (LOCK) {
            value++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        initialize();
        Thread first = new Thread(InitializedBefore::use);
        Thread second = new Thread(InitializedBefore::use);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
