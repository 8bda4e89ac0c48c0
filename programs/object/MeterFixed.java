// The correct twin: the lock covers the peak, too.
// fissure: atomic mark peak total
public class MeterFixed {
    private long total;
    private long peak;

    private MeterFixed(long start) {
        total = start;
    }

    public static MeterFixed create() {
        return new MeterFixed(0);
    }

    public synchronized void mark(int amount) {
        total += amount;
        peak = Math.max(peak, total);
    }

    public synchronized long total() {
        return total;
    }

    public synchronized long peak() {
        return peak;
    }
}
