// A buffer with a ReentrantLock and conditions, whose size method forgets the lock.
// fissure: must-find racer data-race BoundedBuffer.count
// fissure: must-find eraser data-race BoundedBuffer.count
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class BoundedBuffer {
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
        return count;
    }

    public static void main(String[] args) throws InterruptedException {
        BoundedBuffer buffer = new BoundedBuffer();
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
