// The correct twin: getAndUpdate checks and changes in one step, and retries after a remote write.
// fissure: detect --atomic NamedMethodFixed.reserve
import java.util.concurrent.atomic.AtomicInteger;

public class NamedMethodFixed {
    private final AtomicInteger free = new AtomicInteger(3);

    boolean reserve() {
        return free.getAndUpdate(places -> places > 0 ? places - 1 : 0) > 0;
    }

    public static void main(String[] args) throws InterruptedException {
        NamedMethodFixed places = new NamedMethodFixed();
        Thread one = new Thread(places::reserve);
        Thread other = new Thread(places::reserve);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
