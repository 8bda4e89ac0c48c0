// The correct twin: the update is atomic.
// fissure: atomic core
import java.util.concurrent.atomic.AtomicInteger;

public class LostCounterFixed {
    private final AtomicInteger value = new AtomicInteger();

    public int increment() {
        return value.incrementAndGet();
    }

    public int get() {
        return value.get();
    }
}
