// Two threads take a connection from a pool, whose own lock they acquire again and again, and count an order without a lock.
// fissure: must-be-bug failure PooledOrders.main
// fissure: cause orders PooledOrders.order:26
// fissure: not-cause Pool.
// fissure: repair
import java.util.ArrayDeque;

public class PooledOrders {
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
        orders++;
        pool.give(connection);
    }

    public static void main(String[] args) throws InterruptedException {
        PooledOrders shop = new PooledOrders();
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
