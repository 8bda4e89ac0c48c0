// The increments hold the counter's lock. The initialisation and the last read do not, but starting and joining the threads
// orders those.
// fissure: must-find-ordered racer InstanceCounterFixed.count
public class InstanceCounterFixed {
    private int count = 0;

    synchronized void increment() {
        count++;
    }

    void work() {
        for (int i = 0; i < 1000; i++) {
            increment();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        InstanceCounterFixed counter = new InstanceCounterFixed();
        Thread first = new Thread(counter::work);
        Thread second = new Thread(counter::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (counter.count != 2000) {
            throw new AssertionError(counter.count);
        }
        System.out.println("done");
    }
}
