// The correct twin: the same accesses through variable handles under one lock, and a shared field that is volatile.
// fissure: must-not-find-ordered PlainHandleFixed.count
// fissure: must-not-find-ordered PlainHandleFixed.flag
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class PlainHandleFixed {
    private static final VarHandle COUNT = find("count", int.class);
    private static final VarHandle TOTAL = find("total", long.class);
    private static final VarHandle NAME = find("name", String.class);
    private static final VarHandle FLAG = find("flag", boolean.class);
    private static final VarHandle SHARED = findStatic("shared", int.class);
    private static final Object LOCK = new Object();

    private static int shared;
    private int count;
    private long total;
    private String name;
    private volatile boolean flag;

    private static VarHandle find(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(PlainHandleFixed.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static VarHandle findStatic(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findStaticVarHandle(PlainHandleFixed.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static Object read(VarHandle handle, PlainHandleFixed object) {
        return handle.get(object);
    }

    void byHandle() {
        synchronized (LOCK) {
            COUNT.set(this, (int) COUNT.get(this) + 1);
            TOTAL.set(this, 5L);
            read(NAME, this);
            SHARED.set((int) SHARED.get() + 1);
        }
        FLAG.setVolatile(this, true);
        read(FLAG, this);
    }

    void byAssignment() {
        synchronized (LOCK) {
            COUNT.set(this, 7);
            total++;
            name = "renamed";
            shared++;
        }
        flag = false;
        FLAG.set(this, true);
    }

    public static void main(String[] args) throws InterruptedException {
        PlainHandleFixed object = new PlainHandleFixed();
        Thread one = new Thread(object::byHandle);
        Thread two = new Thread(object::byAssignment);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("done");
    }
}
