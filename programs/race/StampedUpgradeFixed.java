// A read stamp is converted to a write stamp, or given back for one, before anything is written.
import java.util.concurrent.locks.StampedLock;

public class StampedUpgradeFixed {
    private final StampedLock lock = new StampedLock();
    private int value;
    private int raises;

    void raiseTo(int target) {
        long stamp = lock.readLock();
        try {
            while (value < target) {
                long upgraded = lock.tryConvertToWriteLock(stamp);
                if (upgraded != 0) {
                    stamp = upgraded;
                    value = target;
                    raises++;
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
    }

    public static void main(String[] args) throws InterruptedException {
        StampedUpgradeFixed state = new StampedUpgradeFixed();
        Thread first = new Thread(() -> state.raise(1));
        Thread second = new Thread(() -> state.raise(2));
        first.start();
        second.start();
        first.join();
        second.join();
        if (state.value != 399) {
            throw new AssertionError(state.value);
        }
        System.out.println("done");
    }
}
