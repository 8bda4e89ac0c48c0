// A pool that grows if no connection is left: it asks how many are left and then takes one, which another thread may have taken, and then it
// waits for ever.
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
