// A slot made of a lock and a condition passes objects on, and their sender still changes them. The lock orders the changes before the
// next object, but not after this one.
// fissure: must-find racer data-race OwnConditionQueue$Job.priority
// fissure: may-find eraser data-race OwnConditionQueue$Job.priority
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class OwnConditionQueue {
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
                slot.put(job);
                job.priority = 2;
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
