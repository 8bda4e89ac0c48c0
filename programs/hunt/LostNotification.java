// Main waits without a condition; if notify is called before the wait, the notification is lost and main waits for ever.
// fissure: must-be-bug deadlock LostNotification.await
// fissure: cause lost-notify
// fissure: repair
public class LostNotification {
    private int value;

    synchronized int await() throws InterruptedException {
        wait();
        return value;
    }

    synchronized void signal() {
        value = 1;
        notify();
    }

    public static void main(String[] args) throws InterruptedException {
        LostNotification state = new LostNotification();
        new Thread(state::signal, "signaller").start();
        state.await();
    }
}
