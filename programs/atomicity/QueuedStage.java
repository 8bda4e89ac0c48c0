// A thread hands an object over through a queue and still changes a volatile field of it, between the accesses of the receiver's block.
// fissure: must-find atomizer atomicity-violation QueuedStage$Job.advance
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class QueuedStage {
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
            jobs.add(job);
            job.prepare();
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
