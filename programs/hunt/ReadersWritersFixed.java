// The correct twin of ReadersWriters: check and put are done under the write lock; readers take the read lock.
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadersWritersFixed {
    static class Cache {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private final Map<String, String> values = new HashMap<>();

        String get(String key) {
            lock.readLock().lock();
            try {
                return values.get(key);
            } finally {
                lock.readLock().unlock();
            }
        }

        void putIfAbsent(String key, String value) {
            lock.writeLock().lock();
            try {
                if (values.get(key) == null) {
                    values.put(key, value);
                }
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    static class Client {
        private final Cache cache;

        Client(Cache cache) {
            this.cache = cache;
        }

        synchronized void load(String key) {
            cache.putIfAbsent(key, "value");
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cache cache = new Cache();
        Thread first = new Thread(() -> new Client(cache).load("key"));
        Thread second = new Thread(() -> new Client(cache).load("key"));
        Thread reader = new Thread(() -> cache.get("key"));
        first.start();
        second.start();
        reader.start();
        first.join();
        second.join();
        reader.join();
    }
}
