// The correct twin of NestedMonitors: the receiver holds only the monitor in which it waits.
public class NestedMonitorsFixed {
    private final Object inner = new Object();
    private boolean ready;

    void receive() throws InterruptedException {
        synchronized (inner) {
            while (!ready) {
                inner.wait();
            }
        }
    }

    void send() {
        synchronized (inner) {
            ready = true;
            inner.notifyAll();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        NestedMonitorsFixed state = new NestedMonitorsFixed();
        Thread receiver = new Thread(() -> {
            try {
                state.receive();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "receiver");
        receiver.start();
        state.send();
        receiver.join();
    }
}
