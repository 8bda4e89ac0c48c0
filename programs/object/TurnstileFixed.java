// The correct twin: the accesses are volatile.
// fissure: atomic core left right
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class TurnstileFixed {
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
            WANTS.setVolatile(wants, side, 1);
            WANTS.setVolatile(wants, 2, 1 - side);
            while ((int) WANTS.getVolatile(wants, 1 - side) == 1 && (int) WANTS.getVolatile(wants, 2) == 1 - side) {
                Thread.onSpinWait();
            }
            int passed = ++count;
            WANTS.setVolatile(wants, side, 0);
            return passed;
        }
    }
}
