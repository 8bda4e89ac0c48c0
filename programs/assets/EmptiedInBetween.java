// One thread takes from a queue if it is not empty; another clears the queue between the check and the removal. The removal then
// throws an exception: a call that ends by an exception is an access all the same (pattern 1).
// fissure: config contents = true
// fissure: must-be-bug 1 EmptiedInBetween$Pool
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;

public class EmptiedInBetween {
    static final class Pool {
        private final Deque<String> free = new ConcurrentLinkedDeque<>();

        Pool() {
            free.add("connection");
        }

        String take() {
            return free.isEmpty() ? null : free.removeFirst();
        }

        void close() {
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
