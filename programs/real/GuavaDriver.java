// Four threads use a cache and post events to a bus.
import com.google.common.cache.CacheBuilder;
import com.google.common.cache.CacheLoader;
import com.google.common.cache.LoadingCache;
import com.google.common.eventbus.AllowConcurrentEvents;
import com.google.common.eventbus.EventBus;
import com.google.common.eventbus.Subscribe;
import java.util.concurrent.atomic.AtomicInteger;

public final class GuavaDriver {
    public static final class Counter {
        private final AtomicInteger events = new AtomicInteger();

        @Subscribe
        @AllowConcurrentEvents
        public void count(Integer event) {
            events.incrementAndGet();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        LoadingCache<Integer, Integer> cache =
                CacheBuilder.newBuilder().maximumSize(16).build(CacheLoader.from(key -> key * key));
        EventBus bus = new EventBus();
        Counter counter = new Counter();
        bus.register(counter);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            int own = i;
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 20; k++) {
                    bus.post(cache.getUnchecked((own * 7 + k) % 24));
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("events " + counter.events);
    }
}
