// Bounded queues with wait and notify: half of the threads produce, half consume, and all lock often.
public class Queues {
    private static final int ITEMS = 1_500_000;

    static final class Item {
        final int value;

        Item(int value) {
            this.value = value;
        }
    }

    static final class Queue {
        private final Item[] items = new Item[256];
        private int first;
        private int count;

        synchronized void put(Item item) throws InterruptedException {
            while (count == items.length) {
                wait();
            }
            items[(first + count) % items.length] = item;
            count++;
            if (count == 1) {
                notifyAll();
            }
        }

        synchronized Item take() throws InterruptedException {
            while (count == 0) {
                wait();
            }
            Item item = items[first];
            items[first] = null;
            first = (first + 1) % items.length;
            count--;
            if (count == items.length - 1) {
                notifyAll();
            }
            return item;
        }
    }

    static final class Account {
        private long sum;
        private int items;

        synchronized void add(int value) {
            sum += value;
            items++;
        }

        synchronized int items() {
            return items;
        }

        synchronized long sum() {
            return sum;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        Kernel.measure(args, scale -> {
            int pairs = threads / 2;
            int each = ITEMS * scale;
            Queue[] queues = new Queue[pairs];
            for (int i = 0; i < pairs; i++) {
                queues[i] = new Queue();
            }
            Account account = new Account();
            Kernel.parts(threads, t -> {
                Queue queue = queues[t / 2];
                for (int i = 0; i < each; i++) {
                    if (t % 2 == 0) {
                        queue.put(new Item(i));
                    } else {
                        account.add(queue.take().value);
                    }
                }
            });
            Kernel.check(account.items() == pairs * each, "items are missing");
            Kernel.check(account.sum() == pairs * (each * (each - 1L) / 2), "the sum is wrong");
            return queues;
        });
    }
}
