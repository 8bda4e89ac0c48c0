// Vector and Hashtable lock each call; the code between two calls is not protected.
// fissure: must-find racer data-race VectorCallback.sum
// fissure: must-find racer data-race VectorCallback.misses
// fissure: must-find eraser data-race VectorCallback.sum
// fissure: must-find eraser data-race VectorCallback.misses
import java.util.Hashtable;
import java.util.List;
import java.util.Vector;

public class VectorCallback {
    private final Vector<Integer> numbers = new Vector<>(List.of(1, 2, 3));
    private final Hashtable<String, Integer> table = new Hashtable<>();
    private int sum;
    private int misses;

    void work() {
        for (int round = 0; round < 100; round++) {
            for (int i = 0; i < numbers.size(); i++) {
                sum += numbers.get(i);
            }
            if (table.get("absent") == null) {
                misses++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        VectorCallback state = new VectorCallback();
        Thread first = new Thread(state::work);
        Thread second = new Thread(state::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
