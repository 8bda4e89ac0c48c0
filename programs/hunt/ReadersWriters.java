// A client checks a cache under the read lock and fills it under the write lock; another client can fill it between the two.
// fissure: must-be-bug atomicity-violation ReadersWriters$Client.load
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadersWriters {
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

        void put(String key, String value) {
            lock.writeLock().lock();
            try {
                if (values.put(key, value) != null) {
                    throw new IllegalStateException(key + " is there already");
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
            if (cache.get(key) == null) {
                cache.put(key, "value");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cache cache = new Cache();
        Thread first = new Thread(() -> new Client(cache).load("key"));
        Thread second = new Thread(() -> new Client(cache).load("key"));
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
