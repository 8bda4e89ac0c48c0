// A thread adds a connection to the pool only if none is available, and then acquires one. If another thread acquires the last
// connection between the check and the acquire, the first thread waits for ever.
// fissure: must-be-bug deadlock GrowingPool.take
import java.util.concurrent.Semaphore;

public class GrowingPool {
    private final Semaphore connections = new Semaphore(1);

    void take() {
        if (connections.availablePermits() == 0) {
            connections.release();
        }
        connections.acquireUninterruptibly();
    }

    public static void main(String[] args) throws InterruptedException {
        GrowingPool pool = new GrowingPool();
        Thread first = new Thread(pool::take);
        Thread second = new Thread(pool::take);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
