// Tasks hand over to each other by futures, latches, barriers, a queue, a fork-join pool and completable futures, and
// nothing is touched by two of them at once. No lock is needed, and with the right order nothing is reported.
// fissure: detect --order hand-over
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.Semaphore;

public class HandedTasksFixed {
    static class Parcel {
        int weight;
    }

    static class Sum extends RecursiveAction {
        private final int from;
        private final int to;
        private int total;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected void compute() {
            if (to - from < 4) {
                for (int i = from; i < to; i++) {
                    total += i;
                }
                return;
            }
            Sum low = new Sum(from, (from + to) / 2);
            Sum high = new Sum((from + to) / 2, to);
            low.fork();
            high.compute();
            low.join();
            total = low.total + high.total;
        }
    }

    private static int result;
    private static int opened;
    private static int staged;
    private static int guarded;
    private static final int[] halves = new int[2];

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.submit(() -> { }).get();
        pool.submit(() -> { }).get();

        Parcel parcel = new Parcel();
        parcel.weight = 1;
        pool.submit(() -> {
            result = ++parcel.weight;
        }).get();
        result += parcel.weight;

        BlockingQueue<Parcel> queue = new LinkedBlockingQueue<>();
        pool.execute(() -> {
            Parcel sent = new Parcel();
            sent.weight = 3;
            queue.add(sent);
        });
        queue.take().weight++;

        CountDownLatch latch = new CountDownLatch(1);
        pool.execute(() -> {
            opened = 1;
            latch.countDown();
        });
        latch.await();
        opened++;

        CyclicBarrier barrier = new CyclicBarrier(2);
        pool.execute(() -> {
            halves[1] = 1;
            meet(barrier);
        });
        halves[0] = 1;
        meet(barrier);
        halves[1]++;

        Semaphore semaphore = new Semaphore(1);
        Runnable count = () -> {
            semaphore.acquireUninterruptibly();
            guarded++;
            semaphore.release();
        };
        CompletableFuture.allOf(CompletableFuture.runAsync(count), CompletableFuture.runAsync(count)).get();

        CompletableFuture.runAsync(() -> staged = 1).get();
        staged++;

        Sum sum = new Sum(0, 100);
        new ForkJoinPool(2).invoke(sum);
        result += sum.total;
        pool.shutdown();
        System.out.println("done");
    }

    static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
