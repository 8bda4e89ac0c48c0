// Counts who passes on the left and on the right, by Peterson's algorithm with opaque accesses: no interleaving of the steps loses an update, but the
// processor may reorder a write and a later read.
// fissure: non-atomic left
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class Turnstile {
    private static final VarHandle WANTS = MethodHandles.arrayElementVarHandle(int[].class);

    private final Object[] sides = {new Object(), new Object()};
    private final int[] wants = new int[3];
    private int count;

    public int left() {
        return pass(0);
    }

    public int right() {
        return pass(1);
    }

    private int pass(int side) {
        synchronized (sides[side]) {
            WANTS.setOpaque(wants, side, 1);
            WANTS.setOpaque(wants, 2, 1 - side);
            while ((int) WANTS.getOpaque(wants, 1 - side) == 1 && (int) WANTS.getOpaque(wants, 2) == 1 - side) {
                Thread.onSpinWait();
            }
            int passed = ++count;
            WANTS.setOpaque(wants, side, 0);
            return passed;
        }
    }
}
