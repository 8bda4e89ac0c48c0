// Four threads use one bounded cache.
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;

public final class CaffeineDriver {
    public static void main(String[] arguments) throws InterruptedException {
        LoadingCache<Integer, Integer> cache = Caffeine.newBuilder().maximumSize(16).build(key -> key * key);
        Thread[] threads = new Thread[4];
        int[] sums = new int[threads.length];
        for (int i = 0; i < threads.length; i++) {
            int own = i;
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 40; k++) {
                    sums[own] += cache.get((own * 7 + k) % 24);
                }
            });
            threads[i].start();
        }
        int sum = 0;
        for (int i = 0; i < threads.length; i++) {
            threads[i].join();
            sum += sums[i];
        }
        System.out.println("sum " + sum);
    }
}
