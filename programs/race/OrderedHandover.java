// A volatile flag, a lock and an atomic order almost all accesses; the accesses to one counter are not ordered.
// fissure: detect --order happens-before
// fissure: must-find racer data-race OrderedHandover.idle
// fissure: must-find eraser data-race OrderedHandover.idle
import java.util.concurrent.CountDownLatch;

public class OrderedHandover {
    private static final CountDownLatch bothRun = new CountDownLatch(2);
    private static volatile boolean ready;
    private static int payload;
    private static int idle;

    static void meet() {
        bothRun.countDown();
        try {
            bothRun.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void produce() {
        payload = 42;
        ready = true;
        meet();
        idle++;
    }

    static void consume() {
        while (!ready) {
            Thread.yield();
        }
        payload++;
        meet();
        idle++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread producer = new Thread(OrderedHandover::produce);
        Thread consumer = new Thread(OrderedHandover::consume);
        producer.start();
        consumer.start();
        producer.join();
        consumer.join();
        System.out.println("done");
    }
}
