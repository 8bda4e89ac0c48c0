// Two workers take numbers from a blocking queue and add them to a sum by separate get and set calls, so an addition is lost.
// fissure: must-be-bug atomicity-violation BlockingQueueWorkers$Worker.store
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class BlockingQueueWorkers {
    static class Sum {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void set(int value) {
            this.value = value;
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
            sum.set(sum.get() + number);
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
