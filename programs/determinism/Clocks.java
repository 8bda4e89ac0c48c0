// Clocks of all kinds, read by threads that also sleep and wait.
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

public class Clocks {
    private static final List<String> LOG = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] args) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                try {
                    LOG.add("millis " + System.currentTimeMillis());
                    Thread.sleep(5L * number);
                    LOG.add("nanos " + System.nanoTime());
                    if (lock.tryLock(20, TimeUnit.MILLISECONDS)) {
                        Thread.sleep(15);
                        lock.unlock();
                    } else {
                        LOG.add("not locked");
                    }
                    LOG.add("instant " + Instant.now() + " " + new Date().getTime());
                } catch (InterruptedException e) {
                    LOG.add("interrupted");
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(LocalDateTime.now());
        LOG.forEach(System.out::println);
    }
}
