// The sender changes the volatile field before it hands the object over. A volatile field orders its own accesses, which says nothing
// about another run; the queue orders them in every run.
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class QueuedStageFixed {
    static final class Job {
        private volatile int stage;

        void prepare() {
            stage = 1;
        }

        synchronized int advance() {
            stage = stage + 1;
            return stage;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<Job> jobs = new ArrayBlockingQueue<>(1);
        Thread planner = new Thread(() -> {
            Job job = new Job();
            job.prepare();
            jobs.add(job);
        });
        Thread worker = new Thread(() -> {
            try {
                jobs.take().advance();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        planner.start();
        worker.start();
        planner.join();
        worker.join();
        System.out.println("done");
    }
}
