// Five hundred threads at once, each with a lock held and a field touched.
public class ManyThreads {
    private static int arrived;
    private static int left;

    static synchronized void visit() {
        arrived++;
        while (arrived < 500) {
            try {
                ManyThreads.class.wait();
            } catch (InterruptedException e) {
                return;
            }
        }
        ManyThreads.class.notifyAll();
        left++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[500];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(ManyThreads::visit);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        synchronized (ManyThreads.class) {
            System.out.println(left);
        }
    }
}
