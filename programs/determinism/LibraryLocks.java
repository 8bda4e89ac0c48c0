// Every kind of lock and synchronizer of java.util.concurrent, each with a log of the order in which threads passed it.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

public class LibraryLocks {
    private static final int THREADS = 4;
    private static final List<String> LOG = Collections.synchronizedList(new ArrayList<>());
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Condition TURN = LOCK.newCondition();
    private static final ReentrantLock FAIR = new ReentrantLock(true);
    private static final ReentrantReadWriteLock SHARED = new ReentrantReadWriteLock();
    private static final StampedLock STAMPED = new StampedLock();
    private static final Semaphore SEMAPHORE = new Semaphore(2);
    private static final CountDownLatch LATCH = new CountDownLatch(THREADS);
    private static final CyclicBarrier BARRIER = new CyclicBarrier(THREADS);
    private static final Phaser PHASER = new Phaser(THREADS);
    private static final Exchanger<Integer> EXCHANGER = new Exchanger<>();
    private static int turn;

    private static void meet(int me) throws Exception {
        LOCK.lock();
        try {
            while (turn != me) {
                if (!TURN.await(5, TimeUnit.SECONDS)) {
                    LOG.add(me + " waited too long");
                }
            }
            turn++;
            TURN.signalAll();
        } finally {
            LOCK.unlock();
        }
        LATCH.countDown();
        LATCH.await();
        FAIR.lock();
        LOG.add(me + " fair");
        FAIR.unlock();
        SHARED.readLock().lock();
        LOG.add(me + " reads");
        SHARED.readLock().unlock();
        SHARED.writeLock().lock();
        LOG.add(me + " writes");
        SHARED.writeLock().unlock();
        long stamp = STAMPED.tryOptimisticRead();
        if (!STAMPED.validate(stamp)) {
            LOG.add(me + " invalid");
        }
        stamp = STAMPED.writeLock();
        LOG.add(me + " stamped");
        STAMPED.unlockWrite(stamp);
        LOG.add(me + " arrived " + BARRIER.await());
        SEMAPHORE.acquire();
        LOG.add(me + " permitted");
        SEMAPHORE.release();
        PHASER.arriveAndAwaitAdvance();
        LOG.add(me + " exchanged " + EXCHANGER.exchange(me));
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int me = i;
            Thread thread = new Thread(() -> {
                try {
                    meet(me);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, "meeter-" + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        LOG.forEach(System.out::println);
    }
}
