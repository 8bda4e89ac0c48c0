// A seller checks for a ticket and sells it under a ReentrantLock each; another sale between the two sells more than there are.
// fissure: must-be-bug atomicity-violation TicketCounter.sell
// fissure: hunt --atomic TicketCounter.sell
import java.util.concurrent.locks.ReentrantLock;

public class TicketCounter {
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
        if (left() > 0) {
            take();
            return true;
        }
        return false;
    }

    public static void main(String[] args) throws InterruptedException {
        TicketCounter counter = new TicketCounter();
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
