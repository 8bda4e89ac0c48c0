// Plain accesses through variable handles race: one field is written by two handles, one by a handle and an assignment, one is
// static. A field accessed only in stronger modes, and one of which each thread has its own object, has no race.
// fissure: must-find racer data-race PlainHandle.count
// fissure: must-find racer data-race PlainHandle.total
// fissure: must-find racer data-race PlainHandle.name
// fissure: must-find racer data-race PlainHandle.shared
// fissure: must-find eraser data-race PlainHandle.count
// fissure: must-find eraser data-race PlainHandle.total
// fissure: may-find eraser data-race PlainHandle.name
// fissure: must-find eraser data-race PlainHandle.shared
// fissure: must-not-find-ordered PlainHandle.opaque
// fissure: must-not-find-ordered PlainHandle.own
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class PlainHandle {
    private static final VarHandle COUNT = find("count", int.class);
    private static final VarHandle TOTAL = find("total", long.class);
    private static final VarHandle NAME = find("name", String.class);
    private static final VarHandle OPAQUE = find("opaque", int.class);
    private static final VarHandle OWN = find("own", double.class);
    private static final VarHandle SHARED = findStatic("shared", int.class);

    private static int shared;
    private int count;
    private long total;
    private String name;
    private int opaque;
    private double own;

    private static VarHandle find(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findVarHandle(PlainHandle.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static VarHandle findStatic(String field, Class<?> type) {
        try {
            return MethodHandles.lookup().findStaticVarHandle(PlainHandle.class, field, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** One site that accesses many fields: some of them have a race, others do not. */
    static Object read(VarHandle handle, PlainHandle object) {
        return handle.get(object);
    }

    void byHandle() {
        COUNT.set(this, (int) COUNT.get(this) + 1);
        TOTAL.set(this, 5L);
        read(NAME, this);
        OPAQUE.setOpaque(this, (int) OPAQUE.getOpaque(this) + 1);
        SHARED.set((int) SHARED.get() + 1);
        PlainHandle mine = new PlainHandle();
        OWN.set(mine, 1.0);
        read(OWN, mine);
        PlainHandle inherited = new PlainHandle() {};
        OWN.set(inherited, 2.0);
    }

    void byAssignment() {
        COUNT.set(this, 7);
        total++;
        name = "renamed";
        OPAQUE.setOpaque(this, 1);
        shared++;
    }

    public static void main(String[] args) throws InterruptedException {
        PlainHandle object = new PlainHandle();
        Thread one = new Thread(object::byHandle);
        Thread two = new Thread(object::byAssignment);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("done");
    }
}
