// Two threads increment an AtomicInteger by get and set instead of incrementAndGet, and an increment is lost.
// fissure: must-be-bug failure AtomicCounter.main
// fissure: program-exit 1
import java.util.concurrent.atomic.AtomicInteger;

public class AtomicCounter {
    public static void main(String[] args) throws InterruptedException {
        AtomicInteger count = new AtomicInteger();
        Runnable work = () -> {
            int known = count.get();
            count.set(known + 1);
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
