// Both threads count their visits under the lock.
public class UnrelatedLockFixed {
    static final Object LOG = new Object();
    static int lines;
    static int visits;

    static void log() {
        synchronized (LOG) {
            lines++;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread first = new Thread(() -> {
            synchronized (LOG) {
                visits++;
            }
            log();
        });
        Thread second = new Thread(() -> {
            log();
            synchronized (LOG) {
                visits++;
            }
        });
        first.start();
        Thread.sleep(50);
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
