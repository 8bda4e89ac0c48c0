// Two threads add to an ArrayList without a lock, and one element is lost.
// fissure: must-be-bug failure SharedList.main
// fissure: program-exit 1
import java.util.ArrayList;
import java.util.List;

public class SharedList {
    private static final List<Integer> results = new ArrayList<>(8);

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> results.add(1));
        Thread second = new Thread(() -> results.add(2));
        first.start();
        second.start();
        first.join();
        second.join();
        if (results.size() != 2) {
            throw new IllegalStateException("lost a result: " + results);
        }
    }
}
