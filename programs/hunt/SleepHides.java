// Two threads increment by separate get and set calls; the second sleeps first, so in practice no increment is ever lost.
// fissure: must-be-bug atomicity-violation SleepHides$Worker.count
public class SleepHides {
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
        private final long delay;

        Worker(Counter counter, long delay) {
            this.counter = counter;
            this.delay = delay;
        }

        synchronized void count() {
            counter.set(counter.get() + 1);
        }

        @Override
        public void run() {
            try {
                Thread.sleep(delay);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            count();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Counter counter = new Counter();
        Worker first = new Worker(counter, 1);
        Worker second = new Worker(counter, 60_000);
        first.start();
        second.start();
        first.join();
        second.join();
        if (counter.get() != 2) {
            throw new IllegalStateException("counted " + counter.get());
        }
    }
}
