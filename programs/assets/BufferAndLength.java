// Figure 10 of the AssetFuzzer paper: a method of a class and one of its subclass both set a buffer and its length without a lock. If
// both writes of one method happen between the two writes of the other, buffer and length do not match (pattern 6). The first method
// also reads the buffer before it writes, which allows pattern 1 as well.
// fissure: must-be-bug 6 BufferAndLength$Value
// fissure: may-confirm 1 BufferAndLength$Value
public class BufferAndLength {
    static class Value {
        byte[] raw;
        int length;

        void update() {
            if (raw == null) {
                byte[] bytes = new byte[] {1, 2, 3};
                raw = bytes;
                length = bytes.length;
            }
        }
    }

    static final class IntegerValue extends Value {
        void assign(byte[] digits) {
            byte[] bytes = digits.clone();
            raw = bytes;
            length = bytes.length;
        }
    }

    // Unrelated work of the thread.
    static void busy(int times) {
        Object own = new Object();
        for (int i = 0; i < times; i++) {
            synchronized (own) {
                own.hashCode();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        IntegerValue value = new IntegerValue();
        Thread updater = new Thread("updater") {
            @Override
            public void run() {
                value.update();
                busy(8);
            }
        };
        Thread assigner = new Thread("assigner") {
            @Override
            public void run() {
                busy(8);
                value.assign(new byte[] {7});
            }
        };
        updater.start();
        assigner.start();
        updater.join();
        assigner.join();
        if (value.raw.length != value.length) {
            throw new IllegalStateException(value.raw.length + " bytes, and " + value.length + " are said to be there");
        }
        System.out.println("done");
    }
}
