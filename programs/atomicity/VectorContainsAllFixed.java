// The correct twin: the lock of the other vector is held throughout.
import java.util.List;
import java.util.Vector;

public class VectorContainsAllFixed {
    static final Vector<Integer> shared = new Vector<>(List.of(1, 2, 3));

    static void compare() {
        Vector<Integer> own = new Vector<>(List.of(1, 2, 3, 4));
        synchronized (shared) {
            if (!own.containsAll(shared)) {
                throw new AssertionError();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(VectorContainsAllFixed::compare);
        Thread other = new Thread(() -> shared.add(4));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
