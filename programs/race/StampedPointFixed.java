// Moved under a write stamp; read optimistically, and under a read stamp where that does not validate.
import java.util.concurrent.locks.StampedLock;

public class StampedPointFixed {
    private final StampedLock lock = new StampedLock();
    private double x;
    private double y;

    void move(double dx, double dy) {
        long stamp = lock.writeLock();
        try {
            x += dx;
            y += dy;
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    double sum() {
        long stamp = lock.tryOptimisticRead();
        double currentX = x;
        double currentY = y;
        if (!lock.validate(stamp)) {
            stamp = lock.readLock();
            try {
                currentX = x;
                currentY = y;
            } finally {
                lock.unlockRead(stamp);
            }
        }
        return currentX + currentY;
    }

    void work() {
        for (int i = 0; i < 200; i++) {
            move(1, -1);
            if (sum() != 0) {
                throw new AssertionError("torn read");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        StampedPointFixed point = new StampedPointFixed();
        Thread first = new Thread(point::work);
        Thread second = new Thread(point::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
