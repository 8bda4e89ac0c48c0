// The correct twin: one lock object for the life of the counter.
public class LockPerCallFixed {
    private final Object lock = new Object();
    private int count;

    void increment() {
        synchronized (lock) {
            count++;
        }
    }

    void work() {
        for (int i = 0; i < 1000; i++) {
            increment();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        LockPerCallFixed counter = new LockPerCallFixed();
        Thread first = new Thread(counter::work);
        Thread second = new Thread(counter::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (counter.count != 2000) {
            throw new AssertionError(counter.count);
        }
        System.out.println("done");
    }
}
