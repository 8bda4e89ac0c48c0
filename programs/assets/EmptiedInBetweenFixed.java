// The correct twin: one lock covers the check and the removal, and clear takes it too.
// fissure: config contents = true
// fissure: nothing-predicted
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;

public class EmptiedInBetweenFixed {
    static final class Pool {
        private final Deque<String> free = new ConcurrentLinkedDeque<>();

        Pool() {
            free.add("connection");
        }

        synchronized String take() {
            return free.isEmpty() ? null : free.removeFirst();
        }

        synchronized void close() {
            free.clear();
        }
    }

    // Unrelated work of the thread.
    static void busy(int times) {
        Object own = new Object();
        for (int i = 0; i < times; i++) {
            synchronized (own) {
                own.hashCode();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Pool pool = new Pool();
        Thread taker = new Thread("taker") {
            @Override
            public void run() {
                pool.take();
                busy(8);
            }
        };
        Thread closer = new Thread("closer") {
            @Override
            public void run() {
                busy(8);
                pool.close();
            }
        };
        taker.start();
        closer.start();
        taker.join();
        closer.join();
        System.out.println("done");
    }
}
