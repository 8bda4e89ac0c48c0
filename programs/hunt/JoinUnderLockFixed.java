// The lock is given back before the wait for the end of the thread.
public class JoinUnderLockFixed {
    private final Thread worker = new Thread(this::work, "worker");
    private int value;

    synchronized void work() {
        value++;
    }

    void stop() throws InterruptedException {
        synchronized (this) {
            value++;
        }
        worker.join();
    }

    public static void main(String[] args) throws InterruptedException {
        JoinUnderLockFixed state = new JoinUnderLockFixed();
        state.worker.start();
        state.stop();
    }
}
