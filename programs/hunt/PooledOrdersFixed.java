// PooledOrders with a lock around the count.
import java.util.ArrayDeque;

public class PooledOrdersFixed {
    static class Pool {
        private final ArrayDeque<String> free = new ArrayDeque<>();

        synchronized String take() {
            return free.isEmpty() ? "new" : free.pop();
        }

        synchronized void give(String connection) {
            free.push(connection);
        }
    }

    private final Pool pool = new Pool();
    private int orders;

    void order() {
        String connection = pool.take();
        synchronized (this) {
            orders++;
        }
        pool.give(connection);
    }

    public static void main(String[] args) throws InterruptedException {
        PooledOrdersFixed shop = new PooledOrdersFixed();
        Runnable work = shop::order;
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (shop.orders != 2) {
            throw new IllegalStateException(shop.orders + " orders");
        }
    }
}
