// Accesses to array elements through variable handles: both threads write one slot, one name and overlapping bytes (an int view and
// a byte access); the slots of `apart` are used by one thread each.
// fissure: must-find racer data-race HandleElements.slots
// fissure: must-find racer data-race HandleElements.bytes
// fissure: must-find racer data-race HandleElements.names
// fissure: must-find eraser data-race HandleElements.slots
// fissure: must-find eraser data-race HandleElements.bytes
// fissure: must-find eraser data-race HandleElements.names
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

public class HandleElements {
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle STRINGS = MethodHandles.arrayElementVarHandle(String[].class);
    private static final VarHandle INTS =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final long[] slots = new long[8];
    private final long[] apart = new long[8];
    private final byte[] bytes = new byte[16];
    private final String[] names = new String[4];

    void one() {
        LONGS.set(slots, 3, (long) LONGS.get(slots, 3) + 1L);
        LONGS.set(apart, 0, 1L);
        INTS.set(bytes, 4, 0x01020304);
        STRINGS.set(names, 1, "one");
    }

    void two() {
        LONGS.set(slots, 3, 2L);
        LONGS.set(apart, 1, 1L);
        bytes[6]++;
        names[1] = "two";
    }

    public static void main(String[] args) throws InterruptedException {
        HandleElements object = new HandleElements();
        Thread one = new Thread(object::one);
        Thread two = new Thread(object::two);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println("done");
    }
}
