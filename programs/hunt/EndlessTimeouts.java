// Correct: two threads wait with practically infinite time-outs, and main with one of an hour, which must not expire early.
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

public final class EndlessTimeouts {
    private static final BlockingQueue<Integer> QUEUE = new ArrayBlockingQueue<>(1);
    private static final CountDownLatch DONE = new CountDownLatch(2);
    private static volatile boolean isOpen;

    private static void take() {
        try {
            if (QUEUE.poll(Long.MAX_VALUE, TimeUnit.NANOSECONDS) == null) {
                throw new AssertionError("nothing came");
            }
            DONE.countDown();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void pass() {
        while (!isOpen) {
            LockSupport.parkNanos(Long.MAX_VALUE);
            Thread.yield();
        }
        DONE.countDown();
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread taker = new Thread(EndlessTimeouts::take);
        Thread passer = new Thread(EndlessTimeouts::pass);
        taker.start();
        passer.start();
        synchronized (DONE) {
            QUEUE.put(1);
        }
        isOpen = true;
        LockSupport.unpark(passer);
        if (!DONE.await(1, TimeUnit.HOURS)) {
            throw new AssertionError("an hour has passed");
        }
        taker.join();
        passer.join();
        System.out.println("done");
    }
}
