// Tasks of an executor with one virtual thread per task ask whether a seat is free, and then take it. The lock is released in
// between, so that two of them may take the last seat.
// fissure: release 21
// fissure: must-be-bug failure VirtualSeats.*
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

public class VirtualSeats {
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
        if (hasSeat()) {
            takeSeat();
        }
    }

    public static void main(String[] args) throws Exception {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> first = executor.submit(VirtualSeats::book);
            Future<?> second = executor.submit(VirtualSeats::book);
            first.get();
            second.get();
        }
    }
}
