// Every access holds a lock, but each thread a different one. Several rounds let both threads access the field again, which is
// necessary for Eraser to report it.
// fissure: must-find racer data-race TwoLocks.balance
// fissure: must-find eraser data-race TwoLocks.balance
// fissure: may-find atomizer atomicity-violation TwoLocks.work:16
import java.util.concurrent.CyclicBarrier;

public class TwoLocks {
    private static final Object left = new Object();
    private static final Object right = new Object();
    private static final CyclicBarrier rounds = new CyclicBarrier(2);
    private static int balance;

    static void work(Object lock) {
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
        Thread first = new Thread(() -> work(left));
        Thread second = new Thread(() -> work(right));
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
