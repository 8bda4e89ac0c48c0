// Reentrant locks that are taken twice stay held until they are released twice; the accesses after that are not protected.
// fissure: must-find racer data-race Reentrant.afterMonitor
// fissure: must-find racer data-race Reentrant.afterLock
// fissure: must-find eraser data-race Reentrant.afterMonitor
// fissure: must-find eraser data-race Reentrant.afterLock
import java.util.concurrent.locks.ReentrantLock;

public class Reentrant {
    private final ReentrantLock lock = new ReentrantLock();
    private int between;
    private int afterMonitor;
    private int afterLock;

    synchronized void outer() {
        inner();
        between++;
    }

    synchronized void inner() {
        between++;
    }

    void work() {
        for (int i = 0; i < 100; i++) {
            outer();
            afterMonitor++;
            lock.lock();
            lock.lock();
            lock.unlock();
            lock.unlock();
            afterLock++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Reentrant state = new Reentrant();
        Thread first = new Thread(state::work);
        Thread second = new Thread(state::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
