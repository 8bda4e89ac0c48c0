// A TimerTask accesses the object in the timer's thread.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByTimer$Box.value
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

public class ByTimer {
    static class Box {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        CountDownLatch done = new CountDownLatch(1);
        Timer timer = new Timer();
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                box.value++;
                done.countDown();
            }
        }, 1);
        done.await();
        box.value++;
        timer.cancel();
        System.out.println("done");
    }
}
