// All accesses hold a lock that the program implements itself, with the JDK's framework for synchronizers.
// fissure: must-find-ordered racer OwnMutexFixed$Meter.level
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

public class OwnMutexFixed {
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
            for (int i = 0; i < 20; i++) {
                meter.raise();
            }
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
