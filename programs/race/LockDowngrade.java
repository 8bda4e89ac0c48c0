// After the downgrade from the write lock to the read lock, the method still writes.
// fissure: must-find racer data-race LockDowngrade.checksum
// fissure: must-find eraser data-race LockDowngrade.checksum
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class LockDowngrade {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private int value;
    private int checksum;

    void update() {
        lock.writeLock().lock();
        value++;
        lock.readLock().lock();
        lock.writeLock().unlock();
        try {
            checksum = value * 31;
        } finally {
            lock.readLock().unlock();
        }
    }

    void work() {
        for (int i = 0; i < 200; i++) {
            update();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        LockDowngrade state = new LockDowngrade();
        Thread first = new Thread(state::work);
        Thread second = new Thread(state::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
