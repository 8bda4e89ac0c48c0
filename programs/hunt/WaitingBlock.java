// A block that waits in its own monitor wants others to come in between: no violation, though they do.
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
