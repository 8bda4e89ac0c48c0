// Each call creates a new lock object, so the lock protects nothing.
// fissure: must-find racer data-race LockPerCall.count
// fissure: must-find eraser data-race LockPerCall.count
// fissure: may-find atomizer atomicity-violation LockPerCall.increment:10
public class LockPerCall {
    private int count;

    void increment() {
        Object lock = new Object();
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
        LockPerCall counter = new LockPerCall();
        Thread first = new Thread(counter::work);
        Thread second = new Thread(counter::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
