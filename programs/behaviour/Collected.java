// Objects whose fields were accessed and that were used as locks are collected once they are unreachable.
import java.lang.ref.WeakReference;

public class Collected {
    static class Item {
        private int uses;
    }

    static WeakReference<Item> use() throws InterruptedException {
        Item item = new Item();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                synchronized (item) {
                    item.uses++;
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return new WeakReference<>(item);
    }

    public static void main(String[] args) throws InterruptedException {
        WeakReference<Item> reference = use();
        for (int i = 0; i < 100 && reference.get() != null; i++) {
            System.gc();
            Thread.sleep(10);
        }
        System.out.println(reference.get() == null ? "collected" : "kept alive");
    }
}
