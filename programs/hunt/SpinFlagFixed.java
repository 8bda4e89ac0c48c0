// The correct twin of SpinFlag: after the flag is set, both threads increment in one synchronized method.
public class SpinFlagFixed {
    static class Counter {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void increment() {
            value++;
        }
    }

    private static volatile boolean go;

    static class Worker {
        private final Counter counter;

        Worker(Counter counter) {
            this.counter = counter;
        }

        synchronized void count() {
            counter.increment();
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
