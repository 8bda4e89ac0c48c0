// Tasks hand over to each other by futures, latches and a queue, but two of them run at once and count in one field.
// fissure: detect --order hand-over
// fissure: must-find racer data-race HandedTasks.finished
// fissure: must-find eraser data-race HandedTasks.finished
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;

public class HandedTasks {
    static class Parcel {
        int weight;
    }

    private static final CountDownLatch bothRun = new CountDownLatch(2);
    private static int finished;

    static void handle(BlockingQueue<Parcel> queue) {
        bothRun.countDown();
        try {
            queue.take().weight++;
            bothRun.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        finished++;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        BlockingQueue<Parcel> queue = new LinkedBlockingQueue<>();
        Future<?> first = pool.submit(() -> handle(queue));
        Future<?> second = pool.submit(() -> handle(queue));
        for (int i = 0; i < 2; i++) {
            Parcel parcel = new Parcel();
            parcel.weight = i;
            queue.put(parcel);
        }
        first.get();
        second.get();
        pool.shutdown();
        System.out.println("done");
    }
}
