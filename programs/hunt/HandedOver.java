// Correct: an ArrayList, a thread-unsafe object, is handed from thread to thread by a volatile flag and by a queue.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class HandedOver {
    private final List<Integer> items = new ArrayList<>(8);
    private volatile boolean isReady;

    public static void main(String[] args) throws InterruptedException {
        HandedOver first = new HandedOver();
        BlockingQueue<List<Integer>> queue = new ArrayBlockingQueue<>(1);
        Thread filler = new Thread(() -> {
            first.items.add(1);
            first.isReady = true;
        });
        Thread second = new Thread(() -> {
            while (!first.isReady) {
                Thread.yield();
            }
            first.items.add(2);
            queue.add(first.items);
        });
        filler.start();
        second.start();
        List<Integer> items = queue.take();
        items.add(3);
        if (items.size() != 3) {
            throw new IllegalStateException("lost an item: " + items);
        }
        second.join();
    }
}
