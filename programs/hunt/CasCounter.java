// Correct: two threads increment by compareAndSet in a loop; a remote write between the read and the update only causes a retry.
import java.util.concurrent.atomic.AtomicInteger;

public class CasCounter {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private static void increment() {
        int known;
        do {
            known = COUNT.get();
        } while (!COUNT.compareAndSet(known, known + 1));
    }

    public static void main(String[] args) throws InterruptedException {
        Runnable work = CasCounter::increment;
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (COUNT.get() != 2) {
            throw new IllegalStateException("counted " + COUNT.get());
        }
    }
}
