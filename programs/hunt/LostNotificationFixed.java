// The correct twin of LostNotification: the state is stored in a field, and main checks it in a loop around wait.
public class LostNotificationFixed {
    private int value;

    synchronized int await() throws InterruptedException {
        while (value == 0) {
            wait();
        }
        return value;
    }

    synchronized void signal() {
        value = 1;
        notify();
    }

    public static void main(String[] args) throws InterruptedException {
        LostNotificationFixed state = new LostNotificationFixed();
        new Thread(state::signal, "signaller").start();
        state.await();
    }
}
