// The correct twin of TimedWait: one synchronized method checks and reads the value.
public class TimedWaitFixed {
    static class Cache {
        private String value = "value";

        synchronized int length() {
            return value == null ? 0 : value.length();
        }

        synchronized void clean() throws InterruptedException {
            wait(5_000);
            value = null;
        }
    }

    static class User {
        private final Cache cache;
        private int used;

        User(Cache cache) {
            this.cache = cache;
        }

        synchronized void use() {
            used += cache.length();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cache cache = new Cache();
        Thread cleaner = new Thread(() -> {
            try {
                cache.clean();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "cleaner");
        cleaner.start();
        new User(cache).use();
        cleaner.join();
    }
}
