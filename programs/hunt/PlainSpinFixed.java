// The correct twin of PlainSpin: after the plain flag is set, both threads increment in one synchronized method.
public class PlainSpinFixed {
    static class Counter {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void increment() {
            value++;
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
            counter.increment();
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
