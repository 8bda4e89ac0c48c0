// All accesses hold a lock that the program implements itself, with an atomic. Fissure does not know that it is a lock, but the atomic
// orders the accesses.
// fissure: must-find-ordered racer OwnSpinLockFixed.tickets
import java.util.concurrent.atomic.AtomicBoolean;

public class OwnSpinLockFixed {
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
        Thread left = new Thread(() -> {
            for (int i = 0; i < 20; i++) {
                sell();
            }
        });
        Thread right = new Thread(() -> {
            for (int i = 0; i < 20; i++) {
                sell();
            }
        });
        left.start();
        right.start();
        left.join();
        right.join();
        System.out.println("done");
    }
}
