// A write under the read half of a read-write lock: others may hold it at the same time.
// fissure: must-find racer data-race ReadLockWrite.hits
// fissure: must-find eraser data-race ReadLockWrite.hits
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadLockWrite {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private int value;
    private int hits;

    int get() {
        lock.readLock().lock();
        try {
            hits++;
            return value;
        } finally {
            lock.readLock().unlock();
        }
    }

    void set(int newValue) {
        lock.writeLock().lock();
        try {
            value = newValue;
        } finally {
            lock.writeLock().unlock();
        }
    }

    void work() {
        for (int i = 0; i < 500; i++) {
            set(get() + 1);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ReadLockWrite cache = new ReadLockWrite();
        Thread first = new Thread(cache::work);
        Thread second = new Thread(cache::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
