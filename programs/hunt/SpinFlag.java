// A thread spins on a volatile flag until main sets it; then both increment a counter by separate get and set calls.
// fissure: must-be-bug atomicity-violation SpinFlag$Worker.count
public class SpinFlag {
    static class Counter {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void set(int value) {
            this.value = value;
        }
    }

    private static volatile boolean go;

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
            while (!go) {
                Thread.onSpinWait();
            }
            worker.count();
        }, "spinning");
        spinning.start();
        go = true;
        new Worker(counter).count();
        spinning.join();
        if (counter.get() != 2) {
            throw new IllegalStateException("counted " + counter.get());
        }
    }
}
