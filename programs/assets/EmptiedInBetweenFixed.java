// The correct twin: nobody takes between the look and the taking.
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
    }

    // Something else to do, which nobody waits for.
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
        Thread one = new Thread("one") {
            @Override
            public void run() {
                pool.take();
                busy(8);
            }
        };
        Thread another = new Thread("another") {
            @Override
            public void run() {
                busy(8);
                pool.take();
            }
        };
        one.start();
        another.start();
        one.join();
        another.join();
        System.out.println("done");
    }
}
