// A tryLock that fails and one that succeeds, plain and with a time limit: only the successful ones touch the value.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

public class TryLockIgnoredFixed {
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

    static void careful() {
        try {
            held.await();
            if (lock.tryLock() || lock.tryLock(1, TimeUnit.MILLISECONDS)) {
                throw new AssertionError("the other thread holds the lock");
            }
            tried.countDown();
            while (!lock.tryLock(1, TimeUnit.SECONDS)) {
                Thread.onSpinWait();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        value++;
        if (lock.tryLock()) {
            value++;
            lock.unlock();
        }
        value++;
        lock.unlock();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(TryLockIgnoredFixed::holder);
        Thread second = new Thread(TryLockIgnoredFixed::careful);
        first.start();
        second.start();
        first.join();
        second.join();
        if (value != 4) {
            throw new AssertionError(value);
        }
        System.out.println("done");
    }
}
