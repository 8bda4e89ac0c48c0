// The rule about compareAndSet: if it succeeds, no other thread has changed the value since the read before it.
// fissure: detect --atomic CompareAndSetFixed.reserve
// fissure: rule compare-and-set CompareAndSetFixed.reserve
import java.util.concurrent.atomic.AtomicInteger;

public class CompareAndSetFixed {
    private final AtomicInteger free = new AtomicInteger(3);

    boolean reserve() {
        for (;;) {
            int places = free.get();
            if (places == 0) {
                return false;
            }
            if (free.compareAndSet(places, places - 1)) {
                return true;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        CompareAndSetFixed places = new CompareAndSetFixed();
        Thread one = new Thread(places::reserve);
        Thread other = new Thread(places::reserve);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
