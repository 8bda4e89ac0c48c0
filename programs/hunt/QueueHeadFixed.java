// The correct twin of QueueHead: each task polls once and checks the result for null.
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class QueueHeadFixed {
    private static int take(Queue<String> queue) {
        String head = queue.poll();
        if (head != null) {
            return head.length();
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
