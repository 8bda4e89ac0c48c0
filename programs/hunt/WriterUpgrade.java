// A reader that finds no value releases the read lock and makes one under the write lock without a second check: made twice.
// fissure: must-be-bug atomicity-violation WriterUpgrade.get
// fissure: hunt --atomic WriterUpgrade.get
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class WriterUpgrade {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private Object made;
    private int times;

    Object get() {
        lock.readLock().lock();
        Object found = made;
        lock.readLock().unlock();
        if (found == null) {
            lock.writeLock().lock();
            try {
                made = new Object();
                times++;
                found = made;
            } finally {
                lock.writeLock().unlock();
            }
        }
        return found;
    }

    public static void main(String[] args) throws InterruptedException {
        WriterUpgrade cache = new WriterUpgrade();
        Runnable reader = cache::get;
        Thread first = new Thread(reader, "first");
        Thread second = new Thread(reader, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        if (cache.times != 1) {
            throw new IllegalStateException("made " + cache.times + " times");
        }
    }
}
