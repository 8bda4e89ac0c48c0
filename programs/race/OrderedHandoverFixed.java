// All objects are handed over by synchronization: a volatile flag, a volatile reference, a lock that is not held
// during the use, a read-write lock, an atomic, a concurrent map, wait and notify.
// fissure: detect --order happens-before
// fissure: must-not-find-ordered OrderedHandoverFixed.payload
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class OrderedHandoverFixed {
    static class Box {
        int value;
    }

    private static final Object lock = new Object();
    private static final AtomicInteger step = new AtomicInteger();
    private static final ConcurrentHashMap<String, Box> map = new ConcurrentHashMap<>();
    private static final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    private static volatile boolean ready;
    private static volatile Box published;
    private static boolean locked;
    private static boolean written;
    private static int payload;
    private static int guarded;
    private static int counted;
    private static int noted;
    private static int notified;
    private static boolean awake;

    static void produce() {
        payload = 42;
        ready = true;

        Box box = new Box();
        box.value = 1;
        published = box;

        guarded = 1;
        synchronized (lock) {
            locked = true;
        }

        noted = 1;
        readWrite.writeLock().lock();
        written = true;
        readWrite.writeLock().unlock();

        counted = 1;
        step.incrementAndGet();

        Box kept = new Box();
        kept.value = 2;
        map.put("kept", kept);

        notified = 1;
        synchronized (lock) {
            awake = true;
            lock.notifyAll();
        }
    }

    static void consume() throws InterruptedException {
        while (!ready) {
            Thread.yield();
        }
        payload++;
        while (published == null) {
            Thread.yield();
        }
        published.value++;
        boolean seen = false;
        while (!seen) {
            synchronized (lock) {
                seen = locked;
            }
        }
        guarded++;
        seen = false;
        while (!seen) {
            readWrite.readLock().lock();
            seen = written;
            readWrite.readLock().unlock();
        }
        noted++;
        while (step.get() == 0) {
            Thread.yield();
        }
        counted++;
        Box kept = null;
        while (kept == null) {
            kept = map.get("kept");
        }
        kept.value++;
        synchronized (lock) {
            while (!awake) {
                lock.wait();
            }
        }
        notified++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread producer = new Thread(OrderedHandoverFixed::produce);
        Thread consumer = new Thread(() -> {
            try {
                consume();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        producer.start();
        consumer.start();
        producer.join();
        consumer.join();
        System.out.println("done");
    }
}
