// The correct twin of TicketCounter: check and sale are done under one lock.
// fissure: hunt --atomic TicketCounterFixed.sell
import java.util.concurrent.locks.ReentrantLock;

public class TicketCounterFixed {
    private final ReentrantLock lock = new ReentrantLock();
    private int left = 1;

    private int left() {
        lock.lock();
        try {
            return left;
        } finally {
            lock.unlock();
        }
    }

    private void take() {
        lock.lock();
        try {
            left--;
            if (left < 0) {
                throw new IllegalStateException("sold what was not there");
            }
        } finally {
            lock.unlock();
        }
    }

    boolean sell() {
        lock.lock();
        try {
            if (left() <= 0) {
                return false;
            }
            take();
            return true;
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        TicketCounterFixed counter = new TicketCounterFixed();
        Thread[] sellers = new Thread[3];
        for (int i = 0; i < sellers.length; i++) {
            sellers[i] = new Thread(counter::sell, "seller-" + i);
            sellers[i].start();
        }
        for (Thread seller : sellers) {
            seller.join();
        }
    }
}
