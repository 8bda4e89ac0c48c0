// Each thread holds two locks, but no lock is held by both.
// fissure: must-find racer data-race NestedLocks.total
// fissure: may-find eraser data-race NestedLocks.total
// fissure: may-find atomizer atomicity-violation NestedLocks.work:11
public class NestedLocks {
    private static int total;

    static void work(Object outer, Object inner) {
        for (int i = 0; i < 100; i++) {
            synchronized (outer) {
                synchronized (inner) {
                    total++;
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> work("first outer", "first inner"));
        Thread second = new Thread(() -> work("second outer", "second inner"));
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
