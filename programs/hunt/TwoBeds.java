// A hostel with three beds. A couple checks that two beds are free and then takes both; a guest takes one bed and another one for a friend,
// and gives them back later, all by the same method. The couple gets a bed too few only if exactly two of these steps land between its check
// and its own step: after one of them two beds are left, and after all of them three.
// fissure: runs 40
// fissure: must-be-bug failure TwoBeds.takeTwo
import java.util.concurrent.atomic.AtomicInteger;

public class TwoBeds {
    private static final AtomicInteger FREE = new AtomicInteger(3);

    private static boolean takeTwo() {
        if (FREE.get() < 2) {
            return false;
        }
        if (FREE.addAndGet(-2) < 0) {
            throw new IllegalStateException("a bed is taken twice");
        }
        return true;
    }

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
        Thread couple = new Thread(TwoBeds::takeTwo);
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
    }
}
