// A synchronizer stores its owner thread, which can be any Thread subclass; LockSupport.getBlocker returns the object a thread waits for.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByOwner$Worker.steps
// fissure: must-find racer data-race ByOwner$Gate.asked
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;

public class ByOwner {
    static class Worker extends Thread {
        int steps;
    }

    static class Owned extends AbstractOwnableSynchronizer {
        private static final long serialVersionUID = 1;

        void own(Thread thread) {
            setExclusiveOwnerThread(thread);
        }

        Thread owner() {
            return getExclusiveOwnerThread();
        }
    }

    static class Gate extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;
        int asked;

        @Override
        protected boolean tryAcquire(int count) {
            asked++;
            return false;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Owned owned = new Owned();
        Worker worker = new Worker();
        owned.own(worker);
        Thread main = Thread.currentThread();
        Thread thread = new Thread(() -> {
            ((Worker) owned.owner()).steps++;
            Object blocker = LockSupport.getBlocker(main);
            while (!(blocker instanceof Gate)) {
                blocker = LockSupport.getBlocker(main);
            }
            ((Gate) blocker).asked++;
            main.interrupt();
        });
        thread.start();
        worker.steps++;
        try {
            new Gate().acquireInterruptibly(1);
        } catch (InterruptedException expected) {
            thread.join();
        }
        System.out.println("done");
    }
}
