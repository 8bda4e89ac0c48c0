// Elements of arrays of every type are accessed under the lock of the class, and one array is copied under it.
public class TypedArraysFixed {
    private static final boolean[] flags = new boolean[2];
    private static final byte[] bytes = new byte[2];
    private static final long[] longs = new long[2];
    private static final double[] doubles = new double[2];
    private static final String[] names = new String[2];

    static synchronized long[] step(int at) {
        flags[at] = !flags[at];
        bytes[at]++;
        longs[at] += 2;
        doubles[at] *= 0.5;
        names[at] = names[1 - at] == null ? "a" : "b";
        return longs.clone();
    }

    static void work() {
        for (int i = 0; i < 100; i++) {
            long[] copy = step(i & 1);
            if (copy[0] + copy[1] > 400) {
                throw new AssertionError();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(TypedArraysFixed::work);
        Thread second = new Thread(TypedArraysFixed::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
