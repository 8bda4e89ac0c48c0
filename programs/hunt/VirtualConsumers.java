// Two virtual threads consume what another one produces. Each asks whether the queue has an element before it removes one, and
// another consumer may remove it in between.
// fissure: release 21
// fissure: must-be-bug failure VirtualConsumers.consume
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

public class VirtualConsumers {
    private static final BlockingQueue<Integer> QUEUE = new LinkedBlockingQueue<>();
    private static final AtomicInteger CONSUMED = new AtomicInteger();

    static void produce() {
        for (int i = 0; i < 3; i++) {
            QUEUE.add(i);
        }
    }

    static void consume() {
        while (!QUEUE.isEmpty()) {
            QUEUE.remove();
            CONSUMED.incrementAndGet();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread producer = Thread.ofVirtual().name("producer").start(VirtualConsumers::produce);
        producer.join();
        Thread first = Thread.ofVirtual().name("consumer-", 1).start(VirtualConsumers::consume);
        Thread second = Thread.ofVirtual().name("consumer-", 2).start(VirtualConsumers::consume);
        first.join();
        second.join();
        if (CONSUMED.get() != 3) {
            throw new IllegalStateException("consumed " + CONSUMED);
        }
    }
}
