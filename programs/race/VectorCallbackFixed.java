// Vector.forEach and Hashtable.computeIfAbsent call back under their own lock.
import java.util.Hashtable;
import java.util.List;
import java.util.Vector;

public class VectorCallbackFixed {
    private final Vector<Integer> numbers = new Vector<>(List.of(1, 2, 3));
    private final Hashtable<String, Integer> table = new Hashtable<>();
    private int sum;
    private int misses;

    void work() {
        for (int round = 0; round < 100; round++) {
            numbers.forEach(number -> sum += number);
            table.computeIfAbsent("absent", key -> {
                misses++;
                return null;
            });
        }
    }

    public static void main(String[] args) throws InterruptedException {
        VectorCallbackFixed state = new VectorCallbackFixed();
        Thread first = new Thread(state::work);
        Thread second = new Thread(state::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (state.sum != 1200 || state.misses != 200) {
            throw new AssertionError(state.sum);
        }
        System.out.println("done");
    }
}
