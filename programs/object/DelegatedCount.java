// Some calls let another thread count: a new thread, or one of the common pool. These threads count without the lock, so that another update
// may be lost.
// fissure: object --core get,increment --schedules controlled
// fissure: non-atomic add addLater
import java.util.concurrent.CompletableFuture;

public class DelegatedCount {
    private int count;

    public synchronized int get() {
        return count;
    }

    public synchronized int increment() {
        return ++count;
    }

    public int add() throws InterruptedException {
        int[] counted = new int[1];
        Thread thread = new Thread(() -> counted[0] = ++count);
        thread.start();
        thread.join();
        return counted[0];
    }

    public int addLater() {
        return CompletableFuture.supplyAsync(() -> ++count).join();
    }
}
