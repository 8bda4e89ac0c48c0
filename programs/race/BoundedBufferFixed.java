// All methods of the buffer hold the lock; waiting on a condition gives it back and takes it again.
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class BoundedBufferFixed {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition notFull = lock.newCondition();
    private final Condition notEmpty = lock.newCondition();
    private final int[] items = new int[4];
    private int count;

    void put(int item) {
        lock.lock();
        try {
            while (count == items.length) {
                notFull.awaitUninterruptibly();
            }
            items[count++] = item;
            notEmpty.signal();
        } finally {
            lock.unlock();
        }
    }

    int take() {
        lock.lock();
        try {
            while (count == 0) {
                notEmpty.awaitUninterruptibly();
            }
            int item = items[--count];
            notFull.signal();
            return item;
        } finally {
            lock.unlock();
        }
    }

    int size() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        BoundedBufferFixed buffer = new BoundedBufferFixed();
        Thread producer = new Thread(() -> {
            for (int i = 0; i < 100; i++) {
                buffer.put(i);
            }
        });
        Thread consumer = new Thread(() -> {
            for (int i = 0; i < 100; i++) {
                buffer.take();
                if (buffer.size() > 4) {
                    throw new AssertionError();
                }
            }
        });
        producer.start();
        consumer.start();
        producer.join();
        consumer.join();
        System.out.println("done");
    }
}
