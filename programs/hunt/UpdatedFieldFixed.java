// The correct twin of UpdatedField: the threads use the atomic operations of the updater and the handle.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

public class UpdatedFieldFixed {
    private static final AtomicIntegerFieldUpdater<UpdatedFieldFixed> COUNT =
            AtomicIntegerFieldUpdater.newUpdater(UpdatedFieldFixed.class, "count");
    private static final VarHandle TOTAL;
    volatile int count;
    int total;

    static {
        try {
            TOTAL = MethodHandles.lookup().findVarHandle(UpdatedFieldFixed.class, "total", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    void increment() {
        COUNT.incrementAndGet(this);
        int old = (int) TOTAL.getAndAdd(this, 1);
    }

    public static void main(String[] args) throws InterruptedException {
        UpdatedFieldFixed counter = new UpdatedFieldFixed();
        Thread first = new Thread(counter::increment);
        Thread second = new Thread(counter::increment);
        first.start();
        second.start();
        first.join();
        second.join();
        if (counter.count + counter.total != 4) {
            throw new IllegalStateException(counter.count + " and " + counter.total);
        }
    }
}
