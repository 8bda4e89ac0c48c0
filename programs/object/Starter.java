// A counter whose increment starts a helper thread and joins it; threads that a tested object starts are not controlled.
// fissure: object --core increment,get --schedules controlled
public class Starter {
    private int value;

    public synchronized int increment() {
        Thread helper = new Thread(() -> value++);
        helper.start();
        try {
            helper.join();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
        return value;
    }

    public synchronized int get() {
        return value;
    }
}
