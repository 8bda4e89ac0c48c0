// The receiver waits in the inner monitor and keeps the outer one, which the sender needs to notify it: deadlock.
// fissure: must-be-bug deadlock NestedMonitors.receive
public class NestedMonitors {
    private final Object inner = new Object();
    private boolean ready;

    synchronized void receive() throws InterruptedException {
        synchronized (inner) {
            while (!ready) {
                inner.wait();
            }
        }
    }

    synchronized void send() {
        synchronized (inner) {
            ready = true;
            inner.notifyAll();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        NestedMonitors state = new NestedMonitors();
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
