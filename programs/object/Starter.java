// A counter whose constructor starts a thread. It runs before the calls of a harness begin, so that it is not controlled.
// fissure: object --core increment,get --schedules controlled
public class Starter {
    private int value;

    public Starter() {
        new Thread(() -> {}).start();
    }

    public synchronized int increment() {
        return ++value;
    }

    public synchronized int get() {
        return value;
    }
}
