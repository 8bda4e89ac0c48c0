// Vector.containsAll iterates over another vector and takes its lock anew for each element.
// fissure: must-find atomizer atomicity-violation java.util.Vector.containsAll
import java.util.List;
import java.util.Vector;

public class VectorContainsAll {
    static final Vector<Integer> shared = new Vector<>(List.of(1, 2, 3));

    static void compare() {
        Vector<Integer> own = new Vector<>(List.of(1, 2, 3, 4));
        if (!own.containsAll(shared)) {
            throw new AssertionError();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(VectorContainsAll::compare);
        Thread other = new Thread(() -> shared.add(4));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
