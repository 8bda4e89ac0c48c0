// Blocking queues of all kinds between producers and consumers.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

public class Queues {
    private static final List<String> LOG = Collections.synchronizedList(new ArrayList<>());

    private static void serve(BlockingQueue<Integer> queue) throws InterruptedException {
        String name = queue.getClass().getSimpleName();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int number = i;
            threads.add(new Thread(() -> {
                try {
                    for (int k = 0; k < 3; k++) {
                        queue.put(10 * number + k);
                    }
                } catch (InterruptedException e) {
                    LOG.add("interrupted");
                }
            }));
            threads.add(new Thread(() -> {
                try {
                    for (int k = 0; k < 3; k++) {
                        LOG.add(name + " " + number + " " + queue.poll(1, TimeUnit.SECONDS));
                    }
                } catch (InterruptedException e) {
                    LOG.add("interrupted");
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        serve(new ArrayBlockingQueue<>(1));
        serve(new LinkedBlockingQueue<>(2));
        serve(new LinkedBlockingDeque<>(2));
        serve(new PriorityBlockingQueue<>());
        serve(new SynchronousQueue<>());
        serve(new LinkedTransferQueue<>());
        LOG.forEach(System.out::println);
    }
}
