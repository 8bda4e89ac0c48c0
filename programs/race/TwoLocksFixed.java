// Both threads hold the same lock.
import java.util.concurrent.CyclicBarrier;

public class TwoLocksFixed {
    private static final Object lock = new Object();
    private static final CyclicBarrier rounds = new CyclicBarrier(2);
    private static int balance;

    static void work() {
        for (int round = 0; round < 3; round++) {
            synchronized (lock) {
                balance++;
            }
            try {
                rounds.await();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(TwoLocksFixed::work);
        Thread second = new Thread(TwoLocksFixed::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (balance != 6) {
            throw new AssertionError(balance);
        }
        System.out.println("done");
    }
}
