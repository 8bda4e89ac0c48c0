// A loop over a synchronized list does not hold the list's lock, so the writes in the loop body are not protected.
// fissure: must-find racer data-race SynchronizedListLoop$Item.visits
// fissure: must-find eraser data-race SynchronizedListLoop$Item.visits
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class SynchronizedListLoop {
    static class Item {
        private int visits;
    }

    static void visitAll(List<Item> items) {
        for (int round = 0; round < 100; round++) {
            for (Item item : items) {
                item.visits++;
            }
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
        System.out.println("done");
    }
}
