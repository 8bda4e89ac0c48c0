// A thread spins on a plain field of another class until main sets it; then both increment a counter by separate get and set calls.
// fissure: must-be-bug atomicity-violation PlainSpin$Worker.count
public class PlainSpin {
    static class Counter {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void set(int value) {
            this.value = value;
        }
    }

    static class Signal {
        boolean go;
    }

    private static final Signal SIGNAL = new Signal();

    static class Worker {
        private final Counter counter;

        Worker(Counter counter) {
            this.counter = counter;
        }

        synchronized void count() {
            counter.set(counter.get() + 1);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Counter counter = new Counter();
        Worker worker = new Worker(counter);
        Thread spinning = new Thread(() -> {
            while (!SIGNAL.go) {
                // Only a write by another thread ends this loop.
            }
            worker.count();
        }, "spinning");
        spinning.start();
        SIGNAL.go = true;
        new Worker(counter).count();
        spinning.join();
        if (counter.get() != 2) {
            throw new IllegalStateException("counted " + counter.get());
        }
    }
}
