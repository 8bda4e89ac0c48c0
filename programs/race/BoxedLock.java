// The counter is its own lock, and every increment replaces it by another Integer.
// fissure: must-find racer data-race BoxedLock.count
// fissure: must-find eraser data-race BoxedLock.count
// fissure: may-find atomizer atomicity-violation BoxedLock.work:11
public class BoxedLock {
    private static Integer count = 0;

    @SuppressWarnings("synchronization")
    static void work() {
        for (int i = 0; i < 1000; i++) {
            synchronized (count) {
                count++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(BoxedLock::work);
        Thread second = new Thread(BoxedLock::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
