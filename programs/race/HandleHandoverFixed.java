// The correct twin: a variable handle and a field updater hand over fields, each in an access mode that orders.
// fissure: detect --order happens-before
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

public class HandleHandoverFixed {
    private static final VarHandle READY;
    private static final AtomicIntegerFieldUpdater<HandleHandoverFixed> PASSED =
            AtomicIntegerFieldUpdater.newUpdater(HandleHandoverFixed.class, "passed");
    private int ready;
    private volatile int passed;
    private int payload;
    private int second;

    static {
        try {
            READY = MethodHandles.lookup().findVarHandle(HandleHandoverFixed.class, "ready", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    void produce() {
        payload = 42;
        READY.setRelease(this, 1);
        second = 1;
        PASSED.incrementAndGet(this);
    }

    void consume() {
        while (!READY.compareAndSet(this, 1, 2)) {
            Thread.yield();
        }
        payload++;
        while (PASSED.get(this) == 0) {
            Thread.yield();
        }
        second++;
    }

    public static void main(String[] args) throws InterruptedException {
        HandleHandoverFixed shared = new HandleHandoverFixed();
        Thread producer = new Thread(shared::produce);
        Thread consumer = new Thread(shared::consume);
        producer.start();
        consumer.start();
        producer.join();
        consumer.join();
        System.out.println("done");
    }
}
