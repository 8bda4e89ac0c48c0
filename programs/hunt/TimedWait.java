// A cleaner empties a cache after a timed wait; a user calls isFilled and then length, and the cleaning between them makes it fail.
// fissure: must-be-bug atomicity-violation TimedWait$User.use
public class TimedWait {
    static class Cache {
        private String value = "value";

        synchronized boolean isFilled() {
            return value != null;
        }

        synchronized int length() {
            return value.length();
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
            if (cache.isFilled()) {
                used += cache.length();
            }
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
