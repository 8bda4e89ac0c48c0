// The thread of a timer that nothing refers to any more: a cleaner wakes it when the garbage collector has found that, at an unpredictable time.
import java.util.Timer;
import java.util.TimerTask;

public class CleanedTimer {
    private static int total;

    private static synchronized void add() {
        total++;
    }

    private static void work() {
        for (int i = 0; i < 200; i++) {
            add();
            if (i % 20 == 0) {
                System.gc();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        new Timer("orphan", true).schedule(new TimerTask() {
            public void run() {
                add();
            }
        }, 3_000, 3_000);
        Thread[] threads = {new Thread(CleanedTimer::work), new Thread(CleanedTimer::work)};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(total);
    }
}
