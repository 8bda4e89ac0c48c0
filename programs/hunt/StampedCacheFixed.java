// The correct twin of StampedCache: the threads read and write under one write stamp.
// fissure: hunt --atomic StampedCacheFixed.increment
import java.util.concurrent.locks.StampedLock;

public class StampedCacheFixed {
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

    void increment() {
        long stamp = lock.writeLock();
        value++;
        lock.unlockWrite(stamp);
    }

    public static void main(String[] args) throws InterruptedException {
        StampedCacheFixed cache = new StampedCacheFixed();
        Thread other = new Thread(cache::increment, "other");
        other.start();
        cache.increment();
        other.join();
        if (cache.read() != 2) {
            throw new AssertionError("lost an update: " + cache.read());
        }
    }
}
