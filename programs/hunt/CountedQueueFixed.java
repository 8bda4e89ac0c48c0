// CountedQueue with one operation that asks and removes.
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

public class CountedQueueFixed {
    private final Queue<String> jobs = new ConcurrentLinkedQueue<>();
    private final AtomicInteger seen = new AtomicInteger();

    int consume() {
        seen.set(seen.get() + 1);
        String job = jobs.poll();
        return job == null ? 0 : job.length();
    }

    public static void main(String[] args) throws InterruptedException {
        CountedQueueFixed queue = new CountedQueueFixed();
        queue.jobs.add("print");
        Runnable work = queue::consume;
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
