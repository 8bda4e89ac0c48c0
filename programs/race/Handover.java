// A handover by wait and notify guards its flag, but writes the item after the notification and outside the lock. Whether Eraser
// reports it depends on which thread comes first.
// fissure: must-find racer data-race Handover.item
// fissure: may-find eraser data-race Handover.item
public class Handover {
    private final Object lock = new Object();
    private boolean ready;
    private int item;

    void produce() {
        synchronized (lock) {
            ready = true;
            lock.notifyAll();
        }
        item = 42;
    }

    void consume() {
        synchronized (lock) {
            while (!ready) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
            if (item != 0 && item != 42) {
                throw new AssertionError(item);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Handover handover = new Handover();
        Thread consumer = new Thread(handover::consume);
        Thread producer = new Thread(handover::produce);
        consumer.start();
        producer.start();
        consumer.join();
        producer.join();
        System.out.println("done");
    }
}
