// A list and its item count are changed under the lock, but in two steps: a check between the steps finds an item that is not
// counted (pattern 8). The field that holds the list is final, but the list's contents change.
// fissure: config contents = true
// fissure: must-be-bug 8 ListAndCount$Inventory
import java.util.ArrayList;
import java.util.List;

public class ListAndCount {
    static final class Inventory {
        private final List<String> items = new ArrayList<>();
        private int count;

        void add(String item) {
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
