// A read stamp is converted to a write stamp, but one of the writes comes before the conversion.
// fissure: must-find racer data-race StampedUpgrade.attempts
// fissure: must-find eraser data-race StampedUpgrade.attempts
import java.util.concurrent.locks.StampedLock;

public class StampedUpgrade {
    private final StampedLock lock = new StampedLock();
    private int value;
    private int attempts;

    void raiseTo(int target) {
        long stamp = lock.readLock();
        try {
            while (value < target) {
                attempts++;
                long upgraded = lock.tryConvertToWriteLock(stamp);
                if (upgraded != 0) {
                    stamp = upgraded;
                    value = target;
                } else {
                    lock.unlockRead(stamp);
                    stamp = lock.writeLock();
                }
            }
        } finally {
            lock.unlock(stamp);
        }
    }

    void raise(int from) {
        for (int i = from; i < 400; i += 2) {
            raiseTo(i);
        }
        attempts++;
    }

    public static void main(String[] args) throws InterruptedException {
        StampedUpgrade state = new StampedUpgrade();
        Thread first = new Thread(() -> state.raise(1));
        Thread second = new Thread(() -> state.raise(2));
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
