// The correct twin of AtomicCounter: the threads use incrementAndGet.
import java.util.concurrent.atomic.AtomicInteger;

public class AtomicCounterFixed {
    public static void main(String[] args) throws InterruptedException {
        AtomicInteger count = new AtomicInteger();
        Runnable work = () -> {
            count.incrementAndGet();
        };
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (count.get() != 2) {
            throw new IllegalStateException("counted " + count.get());
        }
    }
}
