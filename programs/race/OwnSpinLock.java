// Two threads read a counter without the lock that the program implements with an atomic, before they take it for the first time and
// after they released it for the last time. In every schedule one of these reads is not ordered with a write of the other thread.
// fissure: must-find racer data-race OwnSpinLock.tickets
// fissure: may-find eraser data-race OwnSpinLock.tickets
import java.util.concurrent.atomic.AtomicBoolean;

public class OwnSpinLock {
    static final AtomicBoolean TAKEN = new AtomicBoolean();
    static int tickets;

    static void lock() {
        while (!TAKEN.compareAndSet(false, true)) {
            Thread.yield();
        }
    }

    static void unlock() {
        TAKEN.set(false);
    }

    static void sell() {
        lock();
        tickets++;
        unlock();
    }

    public static void main(String[] arguments) throws InterruptedException {
        Runnable work = () -> {
            int before = tickets;
            for (int i = 0; i < 20; i++) {
                sell();
            }
            int after = tickets;
        };
        Thread left = new Thread(work);
        Thread right = new Thread(work);
        left.start();
        right.start();
        left.join();
        right.join();
        System.out.println("done");
    }
}
