// What is waited for is also remembered.
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
        Thread waiter = new Thread(() -> {
            try {
                state.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "waiter");
        waiter.start();
        state.signal();
        waiter.join();
    }
}
