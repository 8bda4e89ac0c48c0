// The code ignores the result of a tryLock that fails and accesses the field without the lock. The latches make it fail in every run,
// and order the accesses.
// fissure: must-find racer data-race TryLockIgnored.value
// fissure: detect --order none
// fissure: must-find eraser data-race TryLockIgnored.value
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

public class TryLockIgnored {
    private static final ReentrantLock lock = new ReentrantLock();
    private static final CountDownLatch held = new CountDownLatch(1);
    private static final CountDownLatch tried = new CountDownLatch(1);
    private static int value;

    static void holder() {
        lock.lock();
        try {
            value++;
            held.countDown();
            tried.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            lock.unlock();
        }
    }

    static void careless() {
        try {
            held.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        lock.tryLock();
        try {
            value++;
        } finally {
            tried.countDown();
            if (lock.isHeldByCurrentThread()) {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(TryLockIgnored::holder);
        Thread second = new Thread(TryLockIgnored::careless);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
