// As Housekeeper, but a sale holds the lock from the check to the end.
// fissure: hunt --learn no --pause 1
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class HousekeeperFixed {
    /** What the main thread has done. */
    static final class Log {
        private final List<String> lines = new ArrayList<>();

        synchronized void add(String line) {
            lines.add(line);
        }
    }

    static final class Shop implements AutoCloseable {
        private final ScheduledExecutorService housekeeper = Executors.newScheduledThreadPool(1);
        private final Log log = new Log();
        private int stock = 1;
        private final CountDownLatch opened = new CountDownLatch(1);
        private int checks;

        /** Acquires the lock of the log twice while the housekeeper waits. */
        synchronized void open() {
            housekeeper.scheduleWithFixedDelay(this::check, 100, 30_000, TimeUnit.MILLISECONDS);
            log.add("opens");
            log.add("is open");
        }

        private synchronized void check() {
            checks++;
        }

        private synchronized int stock() {
            return stock;
        }

        private synchronized void take() {
            stock--;
            if (stock < 0) {
                throw new IllegalStateException("sold too much");
            }
        }

        synchronized void sell() {
            if (stock() > 0) {
                take();
            }
        }

        @Override
        public void close() {
            housekeeper.shutdownNow();
        }
    }

    private static void customer(Shop shop) {
        try {
            shop.opened.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        shop.sell();
    }

    public static void main(String[] arguments) throws InterruptedException {
        ExecutorService workers = Executors.newFixedThreadPool(2);
        try (Shop shop = new Shop()) {
            shop.open();
            Future<?> first = workers.submit(() -> customer(shop));
            Future<?> second = workers.submit(() -> customer(shop));
            shop.opened.countDown();
            first.get();
            second.get();
        } catch (ExecutionException e) {
            throw (RuntimeException) e.getCause();
        } finally {
            workers.shutdown();
        }
    }
}
