// The correct variant of AwaitedOnce: customers look again when they wake up.
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class AwaitedOnceFixed {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition delivered = lock.newCondition();
    private final ArrayDeque<String> parcels = new ArrayDeque<>();

    private void fetch() {
        lock.lock();
        try {
            while (parcels.isEmpty()) {
                delivered.await();
            }
            parcels.removeFirst();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    private void deliver(String parcel) {
        lock.lock();
        try {
            parcels.addLast(parcel);
            delivered.signalAll();
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        AwaitedOnceFixed office = new AwaitedOnceFixed();
        Thread courier = new Thread(() -> {
            office.deliver("book");
            office.deliver("lamp");
            office.deliver("coat");
        });
        Thread[] customers = new Thread[3];
        for (int index = 0; index < customers.length; index++) {
            customers[index] = new Thread(office::fetch);
        }
        courier.start();
        for (Thread customer : customers) {
            customer.start();
        }
        for (Thread customer : customers) {
            customer.join();
        }
        courier.join();
    }
}
