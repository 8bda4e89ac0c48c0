// The correct twin of WaitWithIf: the buyer checks again in a loop after each wait.
import java.util.LinkedList;

public class WaitWithIfFixed {
    static class Store {
        private final LinkedList<String> goods = new LinkedList<>();

        synchronized void put(String item) {
            goods.add(item);
            notify();
        }

        synchronized String take() throws InterruptedException {
            while (goods.isEmpty()) {
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
