// The task of a timer and the main thread count events under a lock.
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

public class TimerTicksFixed {
    private static int ticks;

    static synchronized void tick() {
        ticks++;
    }

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch ticked = new CountDownLatch(1);
        Timer timer = new Timer("ticking");
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                tick();
                ticked.countDown();
            }
        }, 0);
        tick();
        ticked.await();
        timer.cancel();
        if (ticks != 2) {
            throw new IllegalStateException("ticks: " + ticks);
        }
    }
}
