// A static counter that two threads increment without any lock.
// fissure: must-find racer data-race StaticCounter.count
// fissure: must-find eraser data-race StaticCounter.count
public class StaticCounter {
    private static int count;

    static void work() {
        for (int i = 0; i < 1000; i++) {
            count++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(StaticCounter::work);
        Thread second = new Thread(StaticCounter::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
