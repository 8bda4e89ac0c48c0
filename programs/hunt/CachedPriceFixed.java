// CachedPrice with one operation that looks up and stores.
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

public class CachedPriceFixed {
    private final Map<String, Integer> prices = new ConcurrentHashMap<>();
    private final AtomicInteger loads = new AtomicInteger();
    static int requests;

    int price(String item) {
        return prices.computeIfAbsent(item, this::load);
    }

    private int load(String item) {
        loads.incrementAndGet();
        return item.length();
    }

    public static void main(String[] args) throws InterruptedException {
        CachedPriceFixed cache = new CachedPriceFixed();
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
