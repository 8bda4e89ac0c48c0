// Wrong use of monitors and locks throws the same exceptions as without Fissure.
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

public class MonitorMisuse {
    interface Action {
        void run() throws Exception;
    }

    static void attempt(String name, Action action) {
        try {
            action.run();
            System.out.println(name + ": no exception");
        } catch (Exception e) {
            System.out.println(name + ": " + e);
        }
    }

    public static void main(String[] args) {
        Object lock = new Object();
        attempt("notify", lock::notify);
        attempt("notifyAll", lock::notifyAll);
        attempt("wait", lock::wait);
        attempt("negative wait", () -> {
            synchronized (lock) {
                lock.wait(-1);
            }
        });
        attempt("timed wait", () -> {
            synchronized (lock) {
                lock.wait(1);
            }
        });
        attempt("timed wait with nanoseconds", () -> {
            synchronized (lock) {
                lock.wait(0, 500_000);
            }
        });
        attempt("unlock", () -> new ReentrantLock().unlock());
        attempt("read unlock", () -> new ReentrantReadWriteLock().readLock().unlock());
        attempt("write unlock", () -> new ReentrantReadWriteLock().writeLock().unlock());
        attempt("stamped unlock", () -> new StampedLock().unlockWrite(7));
        attempt("started twice", () -> {
            Thread thread = new Thread(() -> { });
            thread.start();
            thread.join();
            thread.start();
        });
        System.out.println(Thread.holdsLock(lock));
    }
}
