// Variable handles, Unsafe and reflection used wrongly and in unusual ways: the program gets the same values, exceptions and
// messages as without Fissure, and its memory is not corrupted.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import sun.misc.Unsafe;

public class HandleMisuse {
    interface Step {
        Object run() throws Throwable;
    }

    static class Point {
        int x = 1;
        long y = 2;
        final int fixed = 3;
        Object next;
        static double total = 4.0;
    }

    static class Point3 extends Point {
        int z = 5;
    }

    static class Late {
        static int value = 6;
    }

    static class Other {
        long first = -1;
        long second = -1;
    }

    Field forgotten;
    VarHandle missing;

    static void show(String what, Step step) {
        try {
            System.out.println(what + ": " + step.run());
        } catch (Throwable e) {
            System.out.println(what + ": " + e);
        }
    }

    public static void main(String[] args) throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        VarHandle x = lookup.findVarHandle(Point.class, "x", int.class);
        VarHandle y = lookup.findVarHandle(Point.class, "y", long.class);
        VarHandle fixed = lookup.findVarHandle(Point.class, "fixed", int.class);
        VarHandle inherited = lookup.findVarHandle(Point3.class, "x", int.class);
        VarHandle late = lookup.findStaticVarHandle(Late.class, "value", int.class);
        VarHandle longs = MethodHandles.arrayElementVarHandle(long[].class);
        VarHandle view = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
        VarHandle buffer = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
        Point point = new Point();
        Point3 deep = new Point3();
        Other other = new Other();
        Object wrong = other;

        show("get", () -> (int) x.get(point));
        show("get wider", () -> (long) x.get(point));
        show("set", () -> {
            x.set(point, 10);
            return point.x;
        });
        show("set of a byte", () -> {
            y.set(point, (byte) 7);
            return point.y;
        });
        show("subclass", () -> (int) x.get(deep) + (int) inherited.get(deep));
        show("superclass", () -> (int) inherited.get(point));
        show("another class", () -> (int) x.get(wrong));
        show("set in another class", () -> {
            x.set(wrong, 3);
            return "set";
        });
        show("null object", () -> (int) x.get((Point) null));
        show("null handle", () -> (int) new HandleMisuse().missing.get(point));
        show("final", () -> {
            fixed.set(point, 4);
            return "set";
        });
        show("no object", () -> (int) x.get());
        show("wrong type", () -> (String) x.get(point));
        show("late", () -> {
            late.set((int) late.get() + 1);
            return Late.value;
        });
        long[] array = {1, 2, 3};
        show("element", () -> (long) longs.get(array, 1));
        show("element set", () -> {
            longs.set(array, 2, 9L);
            return array[2];
        });
        show("out of bounds", () -> (long) longs.get(array, 3));
        show("negative", () -> (long) longs.get(array, -1));
        show("another array", () -> (long) longs.get((Object) new int[4], 1));
        show("no array", () -> (long) longs.get((Object) "text", 1));
        show("null array", () -> (long) longs.get((long[]) null, 1));
        byte[] bytes = new byte[16];
        show("view", () -> {
            view.set(bytes, 8, 0x0102030405060708L);
            return bytes[8];
        });
        show("view out of bounds", () -> (long) view.get(bytes, 12));
        show("view far out", () -> (long) view.get(bytes, Integer.MAX_VALUE));
        show("buffer", () -> (int) buffer.get(ByteBuffer.wrap(bytes), 8));

        Field field = Point.class.getDeclaredField("x");
        Field total = Point.class.getDeclaredField("total");
        show("field", () -> field.getInt(deep) + field.getInt(point));
        show("field of null", () -> field.get(null));
        show("field of another", () -> field.get(other));
        show("field set in another", () -> {
            field.setInt(other, 1);
            return "set";
        });
        show("field of the wrong type", () -> field.getBoolean(point));
        show("static field", () -> {
            total.set(null, 8.0);
            return Point.total + total.getDouble("anything");
        });
        show("no field", () -> new HandleMisuse().forgotten.get(point));
        show("array", () -> Array.get(array, 1));
        show("array out of bounds", () -> Array.getLong(array, 7));
        show("array of another type", () -> Array.getBoolean(array, 0));
        show("not an array", () -> Array.get(point, 0));
        show("null as array", () -> Array.getInt(null, 0));

        Field theUnsafe = Unsafe.class.getDeclaredField("theUnsafe");
        theUnsafe.setAccessible(true);
        Unsafe unsafe = (Unsafe) theUnsafe.get(null);
        long at = unsafe.objectFieldOffset(field);
        show("unsafe", () -> unsafe.getInt(point, at) + unsafe.getInt(deep, at));
        show("part of a long", () -> {
            long offset = unsafe.objectFieldOffset(Point.class.getDeclaredField("y"));
            unsafe.putInt(point, offset + 4L, 1);
            return unsafe.getByte(point, offset + 4L) + unsafe.getByte(point, offset + 7L);
        });
        show("bytes as a long", () -> unsafe.getLong(bytes, unsafe.arrayBaseOffset(byte[].class) + 8L));
        show("header", () -> unsafe.getInt(bytes, 8L) == unsafe.getInt(new byte[16], 8L));
        show("static by unsafe", () -> unsafe.getDouble(unsafe.staticFieldBase(total), unsafe.staticFieldOffset(total)));

        show("many handles", () -> {
            int sum = 0;
            for (int i = 0; i < 1000; i++) {
                VarHandle handle = lookup.findVarHandle(Point.class, "x", int.class);
                sum += (int) handle.get(point);
            }
            return sum;
        });
        Point gone = new Point();
        x.set(gone, 1);
        field.setInt(gone, field.getInt(gone));
        unsafe.putInt(gone, at, 2);
        WeakReference<Point> reference = new WeakReference<>(gone);
        gone = null;
        for (int i = 0; i < 100 && reference.get() != null; i++) {
            System.gc();
        }
        System.out.println("collected: " + (reference.get() == null));
        System.out.println(other.first + " " + other.second + " " + point.y + " " + deep.z);
    }
}
