// The correct twin: both methods are synchronized.
// fissure: nothing-predicted
public class BufferAndLengthFixed {
    static class Value {
        byte[] raw;
        int length;

        synchronized void update() {
            if (raw == null) {
                byte[] bytes = new byte[] {1, 2, 3};
                raw = bytes;
                length = bytes.length;
            }
        }
    }

    static final class IntegerValue extends Value {
        synchronized void assign(byte[] digits) {
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
