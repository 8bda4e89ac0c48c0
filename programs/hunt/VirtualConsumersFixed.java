// Two virtual threads consume what another one produces, by one operation of the queue.
// fissure: release 21
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

public class VirtualConsumersFixed {
    private static final BlockingQueue<Integer> QUEUE = new LinkedBlockingQueue<>();
    private static final AtomicInteger CONSUMED = new AtomicInteger();

    static void produce() {
        for (int i = 0; i < 3; i++) {
            QUEUE.add(i);
        }
    }

    static void consume() {
        while (QUEUE.poll() != null) {
            CONSUMED.incrementAndGet();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread producer = Thread.ofVirtual().name("producer").start(VirtualConsumersFixed::produce);
        producer.join();
        Thread first = Thread.ofVirtual().name("consumer-", 1).start(VirtualConsumersFixed::consume);
        Thread second = Thread.ofVirtual().name("consumer-", 2).start(VirtualConsumersFixed::consume);
        first.join();
        second.join();
        if (CONSUMED.get() != 3) {
            throw new IllegalStateException("consumed " + CONSUMED);
        }
    }
}
