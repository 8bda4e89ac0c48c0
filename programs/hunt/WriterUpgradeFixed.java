// The correct twin of WriterUpgrade: the check and the creation are done under the write lock.
// fissure: hunt --atomic WriterUpgradeFixed.get
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class WriterUpgradeFixed {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private Object made;
    private int times;

    Object get() {
        lock.writeLock().lock();
        try {
            if (made == null) {
                made = new Object();
                times++;
            }
            return made;
        } finally {
            lock.writeLock().unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WriterUpgradeFixed cache = new WriterUpgradeFixed();
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
