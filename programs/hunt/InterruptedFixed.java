// The correct twin of Interrupted: both threads increment in one synchronized method.
public class InterruptedFixed {
    static class Counter {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void increment() {
            value++;
        }
    }

    static class Worker extends Thread {
        private final Counter counter;

        Worker(Counter counter) {
            this.counter = counter;
        }

        synchronized void count() {
            counter.increment();
        }

        @Override
        public void run() {
            try {
                Thread.sleep(1_000_000);
                throw new IllegalStateException("nobody interrupted");
            } catch (InterruptedException e) {
                count();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Counter counter = new Counter();
        Worker worker = new Worker(counter);
        worker.start();
        worker.interrupt();
        new Worker(counter).count();
        worker.join();
        if (counter.get() != 2) {
            throw new IllegalStateException("counted " + counter.get());
        }
    }
}
