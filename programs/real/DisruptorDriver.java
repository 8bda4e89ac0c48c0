// Two producers publish to a ring buffer that one handler reads.
import com.lmax.disruptor.BlockingWaitStrategy;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.dsl.Disruptor;
import com.lmax.disruptor.dsl.ProducerType;
import java.util.concurrent.Executors;

public final class DisruptorDriver {
    static final class Slot {
        long value;
    }

    private static long sum;

    public static void main(String[] arguments) throws InterruptedException {
        Disruptor<Slot> disruptor = new Disruptor<>(
                Slot::new, 8, Executors.defaultThreadFactory(), ProducerType.MULTI, new BlockingWaitStrategy());
        disruptor.handleEventsWith((slot, sequence, endOfBatch) -> sum += slot.value);
        RingBuffer<Slot> ring = disruptor.start();
        Thread[] producers = new Thread[2];
        for (int i = 0; i < producers.length; i++) {
            producers[i] = new Thread(() -> {
                for (int k = 1; k <= 20; k++) {
                    long sequence = ring.next();
                    ring.get(sequence).value = k;
                    ring.publish(sequence);
                }
            });
            producers[i].start();
        }
        for (Thread producer : producers) {
            producer.join();
        }
        disruptor.shutdown();
        System.out.println("sum " + sum);
    }
}
