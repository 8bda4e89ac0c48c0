// A cache looks a price up and stores it in two steps, so that two threads may load it twice. A counter of the test, which no check depends on,
// loses updates in the same runs: it is a bystander.
// fissure: must-be-bug failure CachedPrice.main
// fissure: cause prices CachedPrice.price:17 CachedPrice.price:20
// fissure: not-cause requests
// fissure: repair
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

public class CachedPrice {
    private final Map<String, Integer> prices = new ConcurrentHashMap<>();
    private final AtomicInteger loads = new AtomicInteger();
    static int requests;

    int price(String item) {
        Integer known = prices.get(item);
        if (known == null) {
            known = load(item);
            prices.put(item, known);
        }
        return known;
    }

    private int load(String item) {
        loads.incrementAndGet();
        return item.length();
    }

    public static void main(String[] args) throws InterruptedException {
        CachedPrice cache = new CachedPrice();
        Runnable request = () -> {
            requests++;
            cache.price("apple");
        };
        Thread first = new Thread(request);
        Thread second = new Thread(request);
        first.start();
        second.start();
        first.join();
        second.join();
        if (cache.loads.get() != 1) {
            throw new IllegalStateException("loaded " + cache.loads.get() + " times");
        }
    }
}
