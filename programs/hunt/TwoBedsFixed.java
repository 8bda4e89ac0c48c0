// The same with a check and an update in one step: the compareAndSet fails if the number of free beds has changed since the check.
import java.util.concurrent.atomic.AtomicInteger;

public class TwoBedsFixed {
    private static final AtomicInteger FREE = new AtomicInteger(3);

    private static boolean change(int by) {
        int free = FREE.get();
        while (free + by >= 0) {
            if (FREE.compareAndSet(free, free + by)) {
                return true;
            }
            free = FREE.get();
        }
        return false;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread couple = new Thread(() -> change(-2));
        Thread guest = new Thread(() -> {
            if (change(-1)) {
                if (change(-1)) {
                    change(1);
                }
                change(1);
            }
        });
        couple.start();
        guest.start();
        couple.join();
        guest.join();
        if (FREE.get() < 0) {
            throw new IllegalStateException("a bed is taken twice");
        }
    }
}
