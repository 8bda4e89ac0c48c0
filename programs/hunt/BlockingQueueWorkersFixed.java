// The correct twin of BlockingQueueWorkers: the workers add to the sum in one synchronized method.
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class BlockingQueueWorkersFixed {
    static class Sum {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void add(int number) {
            value += number;
        }
    }

    static class Worker extends Thread {
        private final BlockingQueue<Integer> queue;
        private final Sum sum;

        Worker(BlockingQueue<Integer> queue, Sum sum) {
            this.queue = queue;
            this.sum = sum;
        }

        synchronized void store(int number) {
            sum.add(number);
        }

        @Override
        public void run() {
            try {
                for (int number = queue.take(); number > 0; number = queue.take()) {
                    store(number);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(1);
        Sum sum = new Sum();
        Worker first = new Worker(queue, sum);
        Worker second = new Worker(queue, sum);
        first.start();
        second.start();
        for (int number : new int[] {1, 2, 3, 4, 0, 0}) {
            queue.put(number);
        }
        first.join();
        second.join();
        if (sum.get() != 10) {
            throw new IllegalStateException("sum " + sum.get());
        }
    }
}
