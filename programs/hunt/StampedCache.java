// Two threads read under a read stamp and then write under a write stamp; a remote write between the two is lost.
// fissure: must-be-bug atomicity-violation StampedCache.increment
// fissure: hunt --atomic StampedCache.increment
import java.util.concurrent.locks.StampedLock;

public class StampedCache {
    private final StampedLock lock = new StampedLock();
    private int value;

    int read() {
        long stamp = lock.readLock();
        try {
            return value;
        } finally {
            lock.unlockRead(stamp);
        }
    }

    void write(int value) {
        long stamp = lock.writeLock();
        this.value = value;
        lock.unlockWrite(stamp);
    }

    void increment() {
        int old = read();
        write(old + 1);
    }

    public static void main(String[] args) throws InterruptedException {
        StampedCache cache = new StampedCache();
        Thread other = new Thread(cache::increment, "other");
        other.start();
        cache.increment();
        other.join();
        if (cache.read() != 2) {
            throw new AssertionError("lost an update: " + cache.read());
        }
    }
}
