// The correct twin: the read and the reset are one atomic step.
// fissure: atomic getAndReset isZero
import java.util.concurrent.atomic.AtomicLong;

public class ResetCounterFixed {
    private final AtomicLong value = new AtomicLong();

    public void increment() {
        value.incrementAndGet();
    }

    public long get() {
        return value.get();
    }

    public boolean isZero() {
        return value.get() == 0;
    }

    public long getAndReset() {
        return value.getAndSet(0);
    }
}
