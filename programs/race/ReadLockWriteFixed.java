// Reads under the read lock, writes under the write lock, and a try for each half.
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadLockWriteFixed {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private int value;
    private int hits;

    int get() {
        lock.readLock().lock();
        try {
            return value;
        } finally {
            lock.readLock().unlock();
        }
    }

    void set(int newValue) {
        lock.writeLock().lock();
        try {
            hits++;
            value = newValue;
        } finally {
            lock.writeLock().unlock();
        }
    }

    void tryBoth() {
        if (lock.readLock().tryLock()) {
            try {
                if (hits < 0) {
                    throw new AssertionError(hits);
                }
            } finally {
                lock.readLock().unlock();
            }
        }
        if (lock.writeLock().tryLock()) {
            try {
                hits++;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    void work() {
        for (int i = 0; i < 500; i++) {
            set(get() + 1);
            tryBoth();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ReadLockWriteFixed cache = new ReadLockWriteFixed();
        Thread first = new Thread(cache::work);
        Thread second = new Thread(cache::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
