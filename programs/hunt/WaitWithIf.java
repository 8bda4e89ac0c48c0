// A buyer checks with "if" before wait and not again after it; another buyer may have taken the item first.
// fissure: must-be-bug failure WaitWithIf$Store.take
import java.util.LinkedList;

public class WaitWithIf {
    static class Store {
        private final LinkedList<String> goods = new LinkedList<>();

        synchronized void put(String item) {
            goods.add(item);
            notify();
        }

        synchronized String take() throws InterruptedException {
            if (goods.isEmpty()) {
                wait();
            }
            return goods.removeFirst();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Store store = new Store();
        Thread[] buyers = new Thread[2];
        for (int i = 0; i < buyers.length; i++) {
            buyers[i] = new Thread(() -> {
                try {
                    store.take();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "buyer-" + i);
            buyers[i].start();
        }
        store.put("apples");
        store.put("pears");
        for (Thread buyer : buyers) {
            buyer.join();
        }
    }
}
