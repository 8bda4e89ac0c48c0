// Correct: two objects submit two tasks each to one pool, both in one synchronized method. The locks inside the pool protect its own
// state: a submit of another thread between the two is no atomicity violation of the method.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public final class SharedExecutor {
    private static final ExecutorService POOL = Executors.newFixedThreadPool(2);
    private static final AtomicInteger DONE = new AtomicInteger();

    private synchronized void submitBoth() {
        POOL.submit(DONE::incrementAndGet);
        POOL.submit(DONE::incrementAndGet);
    }

    public static void main(String[] arguments) throws InterruptedException {
        SharedExecutor first = new SharedExecutor();
        SharedExecutor second = new SharedExecutor();
        Thread other = new Thread(second::submitBoth);
        other.start();
        first.submitBoth();
        other.join();
        POOL.shutdown();
        if (!POOL.awaitTermination(1, TimeUnit.MINUTES) || DONE.get() != 4) {
            throw new AssertionError(DONE);
        }
        System.out.println("done");
    }
}
