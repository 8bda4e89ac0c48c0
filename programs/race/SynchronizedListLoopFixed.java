// forEach of a synchronized list calls back under the list's lock: a lock that only the JDK's code takes.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class SynchronizedListLoopFixed {
    static class Item {
        private int visits;
    }

    static void visitAll(List<Item> items) {
        for (int round = 0; round < 100; round++) {
            items.forEach(item -> item.visits++);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        List<Item> items = Collections.synchronizedList(new ArrayList<>());
        items.add(new Item());
        items.add(new Item());
        Thread first = new Thread(() -> visitAll(items));
        Thread second = new Thread(() -> visitAll(items));
        first.start();
        second.start();
        first.join();
        second.join();
        for (Item item : items) {
            if (item.visits != 200) {
                throw new AssertionError(item.visits);
            }
        }
        System.out.println("done");
    }
}
