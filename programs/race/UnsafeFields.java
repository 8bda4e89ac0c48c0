// Plain accesses by Unsafe race with each other and with ordinary accesses: fields, static fields and array elements.
// fissure: must-find racer data-race UnsafeFields$Base.inherited
// fissure: must-find racer data-race UnsafeFields.total
// fissure: must-find racer data-race UnsafeFields.next
// fissure: must-find racer data-race UnsafeFields.instances
// fissure: must-find racer data-race UnsafeFields.table
// fissure: must-find eraser data-race UnsafeFields$Base.inherited
// fissure: must-find eraser data-race UnsafeFields.total
// fissure: may-find eraser data-race UnsafeFields.next
// fissure: must-find eraser data-race UnsafeFields.instances
// fissure: must-find eraser data-race UnsafeFields.table
// fissure: must-not-find-ordered UnsafeFields.ticket
import java.lang.reflect.Field;
import sun.misc.Unsafe;

public class UnsafeFields {
    static class Base {
        int inherited;
    }

    static class Derived extends Base {}

    private static final Unsafe UNSAFE = unsafe();
    private static final long INHERITED = offset(Base.class, "inherited");
    private static final long TOTAL = offset(UnsafeFields.class, "total");
    private static final long NEXT = offset(UnsafeFields.class, "next");
    private static final long TICKET = offset(UnsafeFields.class, "ticket");
    private static final long ELEMENT = UNSAFE.arrayBaseOffset(int[].class) + 2L * UNSAFE.arrayIndexScale(int[].class);

    private static int instances;
    private long total;
    private Object next;
    private int ticket;
    private final Derived derived = new Derived();
    private final int[] table = new int[4];

    private static Unsafe unsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static long offset(Class<?> owner, String field) {
        try {
            return UNSAFE.objectFieldOffset(owner.getDeclaredField(field));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    void byUnsafe() throws ReflectiveOperationException {
        UNSAFE.putInt(derived, INHERITED, UNSAFE.getInt(derived, INHERITED) + 1);
        UNSAFE.putLong(this, TOTAL, 3L);
        UNSAFE.getObject(this, NEXT);
        UNSAFE.getAndAddInt(this, TICKET, 1);
        Field field = UnsafeFields.class.getDeclaredField("instances");
        UNSAFE.putInt(UNSAFE.staticFieldBase(field), UNSAFE.staticFieldOffset(field), 9);
        UNSAFE.putInt(table, ELEMENT, 1);
        long address = UNSAFE.allocateMemory(8L);
        UNSAFE.putInt(address, 7);
        UNSAFE.putInt(null, address, 8);
        UNSAFE.freeMemory(address);
    }

    void byInstruction() {
        UNSAFE.putInt(derived, INHERITED, 4);
        total++;
        next = this;
        UNSAFE.putIntVolatile(this, TICKET, 2);
        instances++;
        table[2]++;
    }

    public static void main(String[] args) throws InterruptedException {
        UnsafeFields object = new UnsafeFields();
        Thread one =
                new Thread(
                        () -> {
                            try {
                                object.byUnsafe();
                            } catch (ReflectiveOperationException e) {
                                throw new IllegalStateException(e);
                            }
                        });
        Thread two = new Thread(object::byInstruction);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("done");
    }
}
