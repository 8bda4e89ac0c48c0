// The correct twin: accesses by Unsafe hold a lock, are made by one thread only, or are atomic.
import java.lang.reflect.Field;
import sun.misc.Unsafe;

public class UnsafeFieldsFixed {
    private static final Unsafe UNSAFE = unsafe();
    private static final long TOTAL = offset("total");
    private static final long NEXT = offset("next");
    private static final long TICKET = offset("ticket");
    private static final long FIRST = UNSAFE.arrayBaseOffset(int[].class);
    private static final long SCALE = UNSAFE.arrayIndexScale(int[].class);

    private static int instances;
    private long total;
    private Object next;
    private int ticket;
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

    private static long offset(String field) {
        try {
            return UNSAFE.objectFieldOffset(UnsafeFieldsFixed.class.getDeclaredField(field));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    void byUnsafe() throws ReflectiveOperationException {
        Field field = UnsafeFieldsFixed.class.getDeclaredField("instances");
        synchronized (this) {
            UNSAFE.putLong(this, TOTAL, UNSAFE.getLong(this, TOTAL) + 3L);
            UNSAFE.getObject(this, NEXT);
            UNSAFE.putInt(UNSAFE.staticFieldBase(field), UNSAFE.staticFieldOffset(field), 9);
        }
        UNSAFE.getAndAddInt(this, TICKET, 1);
        UNSAFE.putInt(table, FIRST, 1);
        UNSAFE.putInt(table, FIRST + SCALE, 1);
    }

    void byInstruction() {
        synchronized (this) {
            total++;
            next = this;
            instances++;
        }
        UNSAFE.putIntVolatile(this, TICKET, 2);
        table[2]++;
        UNSAFE.putInt(table, FIRST + 3L * SCALE, 1);
    }

    public static void main(String[] args) throws InterruptedException {
        UnsafeFieldsFixed object = new UnsafeFieldsFixed();
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
