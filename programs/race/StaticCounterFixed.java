// An AtomicInteger and a volatile field synchronize by themselves, and another field is guarded by a lock: no race is reported,
// and no ordered pair of accesses either.
// fissure: must-not-find-ordered StaticCounterFixed.count
// fissure: must-not-find-ordered StaticCounterFixed.total
// fissure: must-not-find-ordered StaticCounterFixed.workers
import java.util.concurrent.atomic.AtomicInteger;

public class StaticCounterFixed {
    private static final AtomicInteger count = new AtomicInteger();
    private static volatile int total;
    private static int workers;

    static synchronized void enter() {
        workers++;
    }

    static void work() {
        enter();
        for (int i = 0; i < 1000; i++) {
            total = count.incrementAndGet();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(StaticCounterFixed::work);
        Thread second = new Thread(StaticCounterFixed::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (count.get() != 2000 || total < 1000) {
            throw new AssertionError(count);
        }
        System.out.println("done");
    }
}
