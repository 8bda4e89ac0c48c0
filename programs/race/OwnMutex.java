// Threads write a field before they take a lock of the program's own for the first time, and again after they released it for the last
// time. In every schedule a last write of one thread is not ordered with a write of the other.
// fissure: must-find racer data-race OwnMutex$Meter.peak
// fissure: may-find eraser data-race OwnMutex$Meter.peak
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

public class OwnMutex {
    static class Mutex extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean tryAcquire(int unused) {
            return compareAndSetState(0, 1);
        }

        @Override
        protected boolean tryRelease(int unused) {
            setState(0);
            return true;
        }
    }

    static class Meter {
        final Mutex mutex = new Mutex();
        int level;
        int peak;

        void raise() {
            mutex.acquire(1);
            level++;
            mutex.release(1);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Meter meter = new Meter();
        Runnable work = () -> {
            meter.peak++;
            for (int i = 0; i < 20; i++) {
                meter.raise();
            }
            meter.peak++;
        };
        Thread left = new Thread(work);
        Thread right = new Thread(work);
        left.start();
        right.start();
        left.join();
        right.join();
        System.out.println("done");
    }
}
