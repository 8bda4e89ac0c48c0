// A method near the limit of 64 KiB leaves no room for anything to be added: it must run as it is, and Fissure must
// say that it was left alone. The class file is written by hand, for no source of this size is worth keeping.
// fissure: must-leave-alone Huge
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

public class HugeMethod extends ClassLoader {
    private static final int ADDITIONS = 8_190;
    private static final String[] NAMES = {"Huge", "java/lang/Object", "total", "I", "add", "()I", "Code"};

    /** A class with a static int field `total` and a static method `add` that adds one to it again and again. */
    static byte[] huge() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xCAFEBABE);
        out.writeInt(49);
        out.writeShort(12);
        for (String name : NAMES) {
            out.writeByte(1);
            out.writeUTF(name);
        }
        constant(out, 7, 1);
        constant(out, 7, 2);
        constant(out, 12, 3, 4);
        constant(out, 9, 8, 10);
        // public super class Huge (8) extends Object (9), no interfaces, one field, one method.
        shorts(out, 0x21, 8, 9, 0, 1, 0x9, 3, 4, 0, 1, 0x9, 5, 6, 1, 7);
        int length = ADDITIONS * 8 + 4;
        out.writeInt(length + 12);
        shorts(out, 2, 0);
        out.writeInt(length);
        for (int i = 0; i < ADDITIONS; i++) {
            // getstatic total, iconst_1, iadd, putstatic total
            out.write(new byte[] {(byte) 0xb2, 0, 11, 0x04, 0x60, (byte) 0xb3, 0, 11});
        }
        // getstatic total, ireturn; no handlers, no attributes of the code nor of the class.
        out.write(new byte[] {(byte) 0xb2, 0, 11, (byte) 0xac});
        shorts(out, 0, 0, 0);
        return bytes.toByteArray();
    }

    static void constant(DataOutputStream out, int tag, int... indices) throws IOException {
        out.writeByte(tag);
        shorts(out, indices);
    }

    static void shorts(DataOutputStream out, int... values) throws IOException {
        for (int value : values) {
            out.writeShort(value);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] bytes = huge();
        Class<?> type = new HugeMethod().defineClass("Huge", bytes, 0, bytes.length);
        System.out.println(type.getMethod("add").invoke(null));
        System.out.println(type.getMethod("add").invoke(null));
    }
}
