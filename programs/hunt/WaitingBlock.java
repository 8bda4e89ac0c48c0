// Correct: a synchronized method waits in its own monitor for another thread, so a remote access during the wait is no violation.
public class WaitingBlock {
    private final Object register = new Object();
    private boolean ready;
    private int value;

    void note() {
        synchronized (register) {
            value++;
        }
    }

    synchronized void await() throws InterruptedException {
        note();
        while (!ready) {
            wait();
        }
        note();
    }

    synchronized void signal() {
        note();
        ready = true;
        notifyAll();
    }

    public static void main(String[] args) throws InterruptedException {
        WaitingBlock state = new WaitingBlock();
        Thread waiter = new Thread(() -> {
            try {
                state.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        waiter.start();
        state.signal();
        waiter.join();
    }
}
