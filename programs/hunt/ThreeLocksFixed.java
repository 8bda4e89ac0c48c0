// The correct twin of ThreeLocks: all transfers take the locks in the same order.
import java.util.ArrayList;
import java.util.List;

public class ThreeLocksFixed {
    private int balance = 100;

    static void move(ThreeLocksFixed from, ThreeLocksFixed to, int amount) {
        synchronized (from) {
            synchronized (to) {
                from.balance -= amount;
                to.balance += amount;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ThreeLocksFixed[] accounts = {new ThreeLocksFixed(), new ThreeLocksFixed(), new ThreeLocksFixed()};
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < accounts.length; i++) {
            ThreeLocksFixed from = accounts[i];
            ThreeLocksFixed to = accounts[(i + 1) % accounts.length];
            boolean swapped = i == accounts.length - 1;
            Thread thread = new Thread(() -> move(swapped ? to : from, swapped ? from : to, swapped ? -10 : 10), "clerk-" + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
