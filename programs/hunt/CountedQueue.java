// A consumer asks a queue whether it is empty and then removes its head, while another consumer removes it. Atomic counters of both are read and set
// without effect on the result.
// fissure: must-be-bug failure CountedQueue.consume
// fissure: cause jobs CountedQueue.consume:17 CountedQueue.consume:18
// fissure: not-cause seen
// fissure: repair
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

public class CountedQueue {
    private final Queue<String> jobs = new ConcurrentLinkedQueue<>();
    private final AtomicInteger seen = new AtomicInteger();

    int consume() {
        seen.set(seen.get() + 1);
        if (!jobs.isEmpty()) {
            return jobs.poll().length();
        }
        return 0;
    }

    public static void main(String[] args) throws InterruptedException {
        CountedQueue queue = new CountedQueue();
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
