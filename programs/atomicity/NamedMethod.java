// A method without a lock, which the user declares atomic, checks an atomic and then decrements it; only each step is atomic.
// fissure: detect --atomic NamedMethod.reserve
// fissure: must-find atomizer atomicity-violation NamedMethod.reserve
import java.util.concurrent.atomic.AtomicInteger;

public class NamedMethod {
    private final AtomicInteger free = new AtomicInteger(3);

    boolean reserve() {
        if (free.get() > 0) {
            free.decrementAndGet();
            return true;
        }
        return false;
    }

    public static void main(String[] args) throws InterruptedException {
        NamedMethod places = new NamedMethod();
        Thread one = new Thread(places::reserve);
        Thread other = new Thread(places::reserve);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
