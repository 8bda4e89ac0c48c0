// Main interrupts a sleeping worker; then both increment a counter by separate get and set calls, and an increment is lost.
// fissure: must-be-bug atomicity-violation Interrupted$Worker.count
public class Interrupted {
    static class Counter {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void set(int value) {
            this.value = value;
        }
    }

    static class Worker extends Thread {
        private final Counter counter;

        Worker(Counter counter) {
            this.counter = counter;
        }

        synchronized void count() {
            counter.set(counter.get() + 1);
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
