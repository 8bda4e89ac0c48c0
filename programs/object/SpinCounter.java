// A counter with a spin lock. addTwo takes the lock twice, and another thread can see the value between the two.
// fissure: object --core increment,get
// fissure: non-atomic addTwo
// fissure: atomic reset
import java.util.concurrent.atomic.AtomicBoolean;

public class SpinCounter {
    private final AtomicBoolean taken = new AtomicBoolean();
    private int value;

    private void lock() {
        while (!taken.compareAndSet(false, true)) {
            continue;
        }
    }

    public int increment() {
        lock();
        int incremented = ++value;
        taken.set(false);
        return incremented;
    }

    public int get() {
        lock();
        int seen = value;
        taken.set(false);
        return seen;
    }

    public void addTwo() {
        increment();
        increment();
    }

    public int reset() {
        lock();
        int seen = value;
        value = 0;
        taken.set(false);
        return seen;
    }
}
