// Two threads access elements of arrays of every type without a lock.
// fissure: must-find racer data-race TypedArrays.flags
// fissure: must-find racer data-race TypedArrays.bytes
// fissure: must-find racer data-race TypedArrays.longs
// fissure: must-find racer data-race TypedArrays.doubles
// fissure: must-find racer data-race TypedArrays.names
// fissure: must-find eraser data-race TypedArrays.flags
// fissure: must-find eraser data-race TypedArrays.bytes
// fissure: must-find eraser data-race TypedArrays.longs
// fissure: must-find eraser data-race TypedArrays.doubles
// fissure: must-find eraser data-race TypedArrays.names
public class TypedArrays {
    private static final boolean[] flags = new boolean[2];
    private static final byte[] bytes = new byte[2];
    private static final long[] longs = new long[2];
    private static final double[] doubles = new double[2];
    private static final String[] names = new String[2];

    static void work() {
        for (int i = 0; i < 100; i++) {
            int at = i & 1;
            flags[at] = !flags[at];
            bytes[at]++;
            longs[at] += 2;
            doubles[at] *= 0.5;
            names[at] = names[1 - at] == null ? "a" : "b";
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(TypedArrays::work);
        Thread second = new Thread(TypedArrays::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
