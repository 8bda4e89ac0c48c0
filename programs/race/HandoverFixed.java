// Flag and item are handed over under the lock; after a wait the lock is held again, and so is the outer one that
// the wait never gave back.
// fissure: may-find atomizer atomicity-violation HandoverFixed.consume:20
public class HandoverFixed {
    private final Object consumers = new Object();
    private final Object lock = new Object();
    private boolean ready;
    private int item;
    private int consumed;

    void produce() {
        synchronized (lock) {
            item = 42;
            ready = true;
            lock.notifyAll();
        }
    }

    void consume() {
        synchronized (consumers) {
            synchronized (lock) {
                while (!ready) {
                    try {
                        lock.wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
                if (item != 42) {
                    throw new AssertionError(item);
                }
            }
            consumed++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        HandoverFixed handover = new HandoverFixed();
        Thread first = new Thread(handover::consume);
        Thread second = new Thread(handover::consume);
        Thread producer = new Thread(handover::produce);
        first.start();
        second.start();
        producer.start();
        first.join();
        second.join();
        producer.join();
        if (handover.consumed != 2) {
            throw new AssertionError(handover.consumed);
        }
        System.out.println("done");
    }
}
