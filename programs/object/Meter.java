// A meter with a static factory. Marking returns nothing and updates the peak without the lock, so that a lower value may replace a higher one:
// only a later call shows that.
// fissure: non-atomic mark
// fissure: atomic peak total
public class Meter {
    private long total;
    private long peak;

    private Meter(long start) {
        total = start;
    }

    public static Meter create() {
        return new Meter(0);
    }

    public void mark(int amount) {
        long now;
        synchronized (this) {
            total += amount;
            now = total;
        }
        if (now > peak) {
            peak = now;
        }
    }

    public synchronized long total() {
        return total;
    }

    public synchronized long peak() {
        return peak;
    }
}
