// Tasks of an executor with one virtual thread per task ask whether a seat is free and take it, both under one lock.
// fissure: release 21
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

public class VirtualSeatsFixed {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static int free = 1;

    static boolean hasSeat() {
        LOCK.lock();
        try {
            return free > 0;
        } finally {
            LOCK.unlock();
        }
    }

    static void takeSeat() {
        LOCK.lock();
        try {
            if (--free < 0) {
                throw new IllegalStateException("overbooked: " + free);
            }
        } finally {
            LOCK.unlock();
        }
    }

    static void book() {
        LOCK.lock();
        try {
            if (hasSeat()) {
                takeSeat();
            }
        } finally {
            LOCK.unlock();
        }
    }

    public static void main(String[] args) throws Exception {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> first = executor.submit(VirtualSeatsFixed::book);
            Future<?> second = executor.submit(VirtualSeatsFixed::book);
            first.get();
            second.get();
        }
    }
}
