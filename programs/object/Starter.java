// A counter that lets another thread do the work and waits for it, which no schedule can control.
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
