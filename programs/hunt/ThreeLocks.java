// Three transfers between three accounts lock source and target: no two of them deadlock, all three together do.
// fissure: must-be-bug deadlock ThreeLocks.move
import java.util.ArrayList;
import java.util.List;

public class ThreeLocks {
    private int balance = 100;

    static void move(ThreeLocks from, ThreeLocks to, int amount) {
        synchronized (from) {
            synchronized (to) {
                from.balance -= amount;
                to.balance += amount;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ThreeLocks[] accounts = {new ThreeLocks(), new ThreeLocks(), new ThreeLocks()};
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < accounts.length; i++) {
            ThreeLocks from = accounts[i];
            ThreeLocks to = accounts[(i + 1) % accounts.length];
            Thread thread = new Thread(() -> move(from, to, 10), "clerk-" + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
