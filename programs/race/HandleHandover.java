// A release/acquire flag behind a variable handle orders one field; a write of the flag in plain mode orders nothing.
// fissure: detect --order happens-before
// fissure: must-find racer data-race HandleHandover.careless
// fissure: must-find eraser data-race HandleHandover.careless
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CountDownLatch;

public class HandleHandover {
    private static final VarHandle READY;
    private final CountDownLatch bothRun = new CountDownLatch(2);
    private int ready;
    private int payload;
    private int careless;

    static {
        try {
            READY = MethodHandles.lookup().findVarHandle(HandleHandover.class, "ready", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    void meet() {
        bothRun.countDown();
        try {
            bothRun.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    void produce() {
        payload = 42;
        READY.setRelease(this, 1);
        meet();
        careless++;
        READY.set(this, 2);
    }

    void consume() {
        while ((int) READY.getAcquire(this) == 0) {
            Thread.yield();
        }
        payload++;
        meet();
        careless++;
    }

    public static void main(String[] args) throws InterruptedException {
        HandleHandover shared = new HandleHandover();
        Thread producer = new Thread(shared::produce);
        Thread consumer = new Thread(shared::consume);
        producer.start();
        consumer.start();
        producer.join();
        consumer.join();
        System.out.println("done");
    }
}
