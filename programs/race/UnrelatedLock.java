// Both threads log under a lock, and count their visits without it. In this run the lock orders the counting, in the next one it
// need not. A lock that only excludes does not make the race an ordered one.
// fissure: must-find racer data-race UnrelatedLock.visits
// fissure: may-find eraser data-race UnrelatedLock.visits
public class UnrelatedLock {
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
            visits++;
            log();
        });
        Thread second = new Thread(() -> {
            log();
            visits++;
        });
        first.start();
        Thread.sleep(50);
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
