// A counter whose getAndReset reads and resets in two steps: an increment between them is lost.
// fissure: non-atomic getAndReset
// fissure: atomic isZero
import java.util.concurrent.atomic.AtomicLong;

public class ResetCounter {
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
        long old = value.get();
        value.set(0);
        return old;
    }
}
