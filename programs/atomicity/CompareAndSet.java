// A method changes two atomics one after the other; each change is atomic, both together are not.
// fissure: must-find atomizer atomicity-violation CompareAndSet.reserve
import java.util.concurrent.atomic.AtomicInteger;

public class CompareAndSet {
    private final AtomicInteger free = new AtomicInteger(3);
    private final AtomicInteger taken = new AtomicInteger();

    synchronized void reserve() {
        if (take()) {
            taken.incrementAndGet();
        }
    }

    void cancel() {
        taken.decrementAndGet();
        free.incrementAndGet();
    }

    boolean take() {
        int places = free.get();
        return places > 0 && free.compareAndSet(places, places - 1);
    }

    public static void main(String[] args) throws InterruptedException {
        CompareAndSet places = new CompareAndSet();
        Thread one = new Thread(places::reserve);
        Thread other = new Thread(places::cancel);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
