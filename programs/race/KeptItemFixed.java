// The thread changes the element before it puts it into the queue. The queue orders everything.
// fissure: must-find-ordered racer KeptItemFixed$Order.amount
// fissure: must-find-ordered racer KeptItemFixed$Order.discount
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class KeptItemFixed {
    static class Order {
        int amount;
        int discount;
    }

    public static void main(String[] arguments) throws InterruptedException {
        BlockingQueue<Order> orders = new ArrayBlockingQueue<>(4);
        Thread shop = new Thread(() -> {
            for (int i = 0; i < 20; i++) {
                Order order = new Order();
                order.amount = i;
                order.discount = 1;
                put(orders, order);
            }
        });
        Thread till = new Thread(() -> {
            int total = 0;
            for (int i = 0; i < 20; i++) {
                Order order = take(orders);
                total += order.amount - order.discount;
                order.amount = 0;
            }
            if (total > 10_000) {
                throw new IllegalStateException();
            }
        });
        shop.start();
        till.start();
        shop.join();
        till.join();
        System.out.println("done");
    }

    static void put(BlockingQueue<Order> orders, Order order) {
        try {
            orders.put(order);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    static Order take(BlockingQueue<Order> orders) {
        try {
            return orders.take();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
