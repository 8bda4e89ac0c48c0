// A point is moved under a read stamp of a StampedLock.
// fissure: must-find racer data-race StampedPoint.x
// fissure: must-find racer data-race StampedPoint.y
// fissure: must-find eraser data-race StampedPoint.x
// fissure: must-find eraser data-race StampedPoint.y
import java.util.concurrent.locks.StampedLock;

public class StampedPoint {
    private final StampedLock lock = new StampedLock();
    private double x;
    private double y;

    void move(double dx, double dy) {
        long stamp = lock.readLock();
        try {
            x += dx;
            y += dy;
        } finally {
            lock.unlockRead(stamp);
        }
    }

    void work() {
        for (int i = 0; i < 200; i++) {
            move(1, -1);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        StampedPoint point = new StampedPoint();
        Thread first = new Thread(point::work);
        Thread second = new Thread(point::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
