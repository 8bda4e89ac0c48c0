// The sender is done with an object when it passes it on: a lock with a condition orders what both threads do outside of it.
// fissure: must-find-ordered racer OwnConditionQueueFixed$Job.input
// fissure: must-find-ordered racer OwnConditionQueueFixed$Job.priority
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class OwnConditionQueueFixed {
    static class Job {
        int input;
        int priority;
    }

    static class Slot {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private Job job;

        void put(Job next) throws InterruptedException {
            lock.lock();
            try {
                while (job != null) {
                    changed.await();
                }
                job = next;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        Job take() throws InterruptedException {
            lock.lock();
            try {
                while (job == null) {
                    changed.await();
                }
                Job taken = job;
                job = null;
                changed.signalAll();
                return taken;
            } finally {
                lock.unlock();
            }
        }
    }

    interface Body {
        void run() throws InterruptedException;
    }

    static Thread thread(Body body) {
        return new Thread(() -> {
            try {
                body.run();
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        });
    }

    public static void main(String[] arguments) throws InterruptedException {
        Slot slot = new Slot();
        Thread client = thread(() -> {
            for (int i = 0; i < 20; i++) {
                Job job = new Job();
                job.input = i;
                job.priority = 2;
                slot.put(job);
            }
        });
        Thread worker = thread(() -> {
            for (int i = 0; i < 20; i++) {
                Job job = slot.take();
                job.input *= job.priority;
            }
        });
        client.start();
        worker.start();
        client.join();
        worker.join();
        System.out.println("done");
    }
}
