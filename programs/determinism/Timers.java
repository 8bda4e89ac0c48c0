// Timers, scheduled pools and sleepers, in virtual time.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class Timers {
    private static final List<String> LOG = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] args) throws Exception {
        Timer timer = new Timer("timer");
        for (int i = 1; i <= 4; i++) {
            int number = i;
            timer.schedule(new TimerTask() {
                @Override
                public void run() {
                    LOG.add("timer " + number);
                }
            }, 30L * i, 70L);
        }
        ScheduledExecutorService scheduled = Executors.newScheduledThreadPool(2);
        scheduled.scheduleAtFixedRate(() -> LOG.add("rate"), 10, 25, TimeUnit.MILLISECONDS);
        scheduled.scheduleWithFixedDelay(() -> LOG.add("delay"), 15, 25, TimeUnit.MILLISECONDS);
        Thread sleeper = new Thread(() -> {
            for (int i = 0; i < 5; i++) {
                try {
                    Thread.sleep(33L);
                } catch (InterruptedException e) {
                    return;
                }
                LOG.add("sleeper " + i);
            }
        });
        sleeper.start();
        Thread.sleep(300L);
        timer.cancel();
        scheduled.shutdownNow();
        sleeper.join();
        System.out.println(LOG);
    }
}
