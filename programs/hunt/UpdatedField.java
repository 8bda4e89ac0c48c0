// Two threads increment by separate get and set calls of a field updater and of a variable handle, and an increment is lost.
// fissure: must-be-bug failure UpdatedField.main
// fissure: program-exit 1
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

public class UpdatedField {
    private static final AtomicIntegerFieldUpdater<UpdatedField> COUNT =
            AtomicIntegerFieldUpdater.newUpdater(UpdatedField.class, "count");
    private static final VarHandle TOTAL;
    volatile int count;
    int total;

    static {
        try {
            TOTAL = MethodHandles.lookup().findVarHandle(UpdatedField.class, "total", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    void increment() {
        COUNT.set(this, COUNT.get(this) + 1);
        int old = (int) TOTAL.getVolatile(this);
        TOTAL.setVolatile(this, old + 1);
    }

    public static void main(String[] args) throws InterruptedException {
        UpdatedField counter = new UpdatedField();
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
