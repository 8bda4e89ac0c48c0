// A pool is shut down while its workers wait, run and sleep; the order of the interrupts depends on hash codes.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

public class PoolWorkers {
    private static final List<String> LOG = new ArrayList<>();

    private static void log(String line) {
        synchronized (LOG) {
            LOG.add(line);
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(5);
        List<Future<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int number = i;
            futures.add(pool.submit(() -> {
                log("task " + number + " in " + Thread.currentThread().getName());
                return number;
            }));
        }
        int sum = 0;
        for (Future<Integer> future : futures) {
            sum += future.get();
        }
        for (int i = 0; i < 5; i++) {
            int number = i;
            pool.execute(() -> {
                try {
                    Thread.sleep(1_000_000L);
                } catch (InterruptedException e) {
                    log("interrupted " + number + " in " + Thread.currentThread().getName());
                }
            });
        }
        Thread.sleep(10L);
        pool.shutdownNow();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        System.out.println(sum);
        LOG.forEach(System.out::println);
    }
}
