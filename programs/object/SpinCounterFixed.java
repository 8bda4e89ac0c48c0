// The correct twin: each method takes the spin lock once; the lock calls onSpinWait.
// fissure: object --core increment,get
// fissure: atomic addTwo reset
import java.util.concurrent.atomic.AtomicBoolean;

public class SpinCounterFixed {
    private final AtomicBoolean taken = new AtomicBoolean();
    private int value;

    private void lock() {
        while (taken.get() || !taken.compareAndSet(false, true)) {
            Thread.onSpinWait();
        }
    }

    private int add(int number) {
        lock();
        value += number;
        int added = value;
        taken.set(false);
        return added;
    }

    public int increment() {
        return add(1);
    }

    public int get() {
        return add(0);
    }

    public void addTwo() {
        add(2);
    }

    public int reset() {
        lock();
        int seen = value;
        value = 0;
        taken.set(false);
        return seen;
    }
}
