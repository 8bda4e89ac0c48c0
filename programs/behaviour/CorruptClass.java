// Class files that are invalid, truncated, too new, under a wrong name or with changed bytes: the JVM refuses each of them
// with its own message.
import java.io.InputStream;
import java.util.Arrays;

public class CorruptClass {
    public static class Sample {
        private int value = 1;

        public synchronized int value() {
            return value++;
        }
    }

    static class Loader extends ClassLoader {
        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    static void attempt(String title, String name, byte[] bytes) {
        try {
            Class<?> type = new Loader().define(name, bytes);
            Object instance = type.getDeclaredConstructor().newInstance();
            System.out.println(title + ": " + type.getMethod("value").invoke(instance));
        } catch (VerifyError e) {
            // The message quotes the bytecode, which is the instrumented one.
            System.out.println(title + ": " + e.getClass().getName());
        } catch (ReflectiveOperationException | LinkageError e) {
            System.out.println(title + ": " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] good;
        try (InputStream in = CorruptClass.class.getResourceAsStream("CorruptClass$Sample.class")) {
            good = in.readAllBytes();
        }
        String name = "CorruptClass$Sample";
        attempt("good", name, good);
        attempt("empty", name, new byte[0]);
        attempt("text", name, "not a class file at all".getBytes());
        attempt("magic only", name, Arrays.copyOf(good, 4));
        for (int part = 1; part < 10; part++) {
            attempt("cut at " + part, name, Arrays.copyOf(good, good.length * part / 10));
        }
        attempt("longer", name, Arrays.copyOf(good, good.length + 1));
        attempt("wrong name", "Other", good);
        byte[] newer = good.clone();
        newer[7] = (byte) 200;
        attempt("too new", name, newer);
        for (int at = 10; at < good.length; at += 7) {
            byte[] changed = good.clone();
            changed[at] ^= 0x55;
            attempt("changed at " + at, name, changed);
        }
    }
}
