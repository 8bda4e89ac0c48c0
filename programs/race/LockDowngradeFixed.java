// The write lock covers all writes; what follows the downgrade only reads.
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class LockDowngradeFixed {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private int value;
    private int checksum;

    void update() {
        lock.writeLock().lock();
        value++;
        checksum = value * 31;
        lock.readLock().lock();
        lock.writeLock().unlock();
        try {
            if (checksum != value * 31) {
                throw new AssertionError(checksum);
            }
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
        LockDowngradeFixed state = new LockDowngradeFixed();
        Thread first = new Thread(state::work);
        Thread second = new Thread(state::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
