// The correct twin: each thread accesses its own elements, takes the lock, or uses an atomic access mode.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

public class HandleElementsFixed {
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle STRINGS = MethodHandles.arrayElementVarHandle(String[].class);
    private static final VarHandle INTS =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final long[] slots = new long[8];
    private final byte[] bytes = new byte[16];
    private final String[] names = new String[4];

    void one() {
        LONGS.getAndAdd(slots, 3, 1L);
        LONGS.set(slots, 0, 1L);
        INTS.set(bytes, 4, 0x01020304);
        synchronized (names) {
            STRINGS.set(names, 1, "one");
        }
    }

    void two() {
        LONGS.setVolatile(slots, 3, 2L);
        LONGS.set(slots, 1, 1L);
        bytes[8]++;
        bytes[3]++;
        synchronized (names) {
            names[1] = "two";
        }
    }

    public static void main(String[] args) throws InterruptedException {
        HandleElementsFixed object = new HandleElementsFixed();
        Thread one = new Thread(object::one);
        Thread two = new Thread(object::two);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("done");
    }
}
