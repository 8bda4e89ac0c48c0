// Some calls let another thread count: a new thread, or one of the common pool. These threads hold the same lock as all others.
// fissure: object --core get,increment --schedules controlled
// fissure: atomic add addLater
import java.util.concurrent.CompletableFuture;

public class DelegatedCountFixed {
    private int count;

    public synchronized int get() {
        return count;
    }

    public synchronized int increment() {
        return ++count;
    }

    public int add() throws InterruptedException {
        int[] counted = new int[1];
        Thread thread = new Thread(() -> counted[0] = increment());
        thread.start();
        thread.join();
        return counted[0];
    }

    public int addLater() {
        return CompletableFuture.supplyAsync(() -> increment()).join();
    }
}
