// The correct twin: list and count are changed under one lock.
// fissure: config contents = true
// fissure: nothing-predicted
import java.util.ArrayList;
import java.util.List;

public class ListAndCountFixed {
    static final class Inventory {
        private final List<String> items = new ArrayList<>();
        private int count;

        synchronized void add(String item) {
            keep(item);
            grow();
        }

        private synchronized void keep(String item) {
            items.add(item);
        }

        private synchronized void grow() {
            count++;
        }

        synchronized void check() {
            if (items.size() != count) {
                throw new IllegalStateException(items.size() + " items, and " + count + " are counted");
            }
        }
    }

    // Unrelated work of the thread.
    static void busy(int times) {
        Object own = new Object();
        for (int i = 0; i < times; i++) {
            synchronized (own) {
                own.hashCode();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Inventory inventory = new Inventory();
        Thread keeper = new Thread("keeper") {
            @Override
            public void run() {
                inventory.add("nail");
                busy(8);
            }
        };
        Thread checker = new Thread("checker") {
            @Override
            public void run() {
                busy(8);
                inventory.check();
            }
        };
        keeper.start();
        checker.start();
        keeper.join();
        checker.join();
        System.out.println("done");
    }
}
