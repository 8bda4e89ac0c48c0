// The correct twin: one lock covers the read and the write.
// fissure: nothing-predicted
public class StaleUpdateFixed {
    static final class Counter {
        private int hits = 7;

        synchronized void increment() {
            setHits(getHits() + 1);
        }

        synchronized void reset() {
            setHits(0);
        }

        private synchronized int getHits() {
            return hits;
        }

        private synchronized void setHits(int value) {
            hits = value;
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
        Counter counter = new Counter();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                counter.increment();
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                counter.reset();
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
