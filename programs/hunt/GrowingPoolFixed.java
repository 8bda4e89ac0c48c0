// The correct twin of GrowingPool: tryAcquire checks and takes in one step, and a connection is added if it fails.
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

public class GrowingPoolFixed {
    private final Semaphore connections = new Semaphore(1);
    private final AtomicInteger added = new AtomicInteger();

    void take() {
        if (!connections.tryAcquire()) {
            added.incrementAndGet();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        GrowingPoolFixed pool = new GrowingPoolFixed();
        Thread first = new Thread(pool::take);
        Thread second = new Thread(pool::take);
        first.start();
        second.start();
        first.join();
        second.join();
        if (pool.added.get() != 1) {
            throw new IllegalStateException("added " + pool.added.get());
        }
    }
}
