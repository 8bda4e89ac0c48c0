// Tasks of a pool call isEmpty and then poll on a concurrent queue; a poll of another task between them makes poll return null.
// fissure: must-be-bug failure QueueHead.take
// fissure: program-exit 1
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class QueueHead {
    private static int take(Queue<String> queue) {
        if (!queue.isEmpty()) {
            return queue.poll().length();
        }
        return 0;
    }

    public static void main(String[] args) throws Exception {
        Queue<String> queue = new ConcurrentLinkedQueue<>();
        queue.add("apples");
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<Integer> first = pool.submit(() -> take(queue));
        Future<Integer> second = pool.submit(() -> take(queue));
        try {
            System.out.println(first.get() + second.get());
        } finally {
            pool.shutdown();
        }
    }
}
