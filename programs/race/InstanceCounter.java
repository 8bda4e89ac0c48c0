// Two threads increment a counter object without a lock; it was initialised before they started. The ordered initialisation
// must not hide that the increments are not ordered.
// fissure: must-find racer data-race InstanceCounter.count
// fissure: must-find eraser data-race InstanceCounter.count
public class InstanceCounter {
    private int count = 0;

    void increment() {
        count++;
    }

    void work() {
        for (int i = 0; i < 1000; i++) {
            increment();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        InstanceCounter counter = new InstanceCounter();
        Thread first = new Thread(counter::work);
        Thread second = new Thread(counter::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
