// Two threads put different keys into a HashMap without a lock, and one entry is lost.
// fissure: must-be-bug failure SharedMap.main
// fissure: program-exit 1
import java.util.HashMap;
import java.util.Map;

public class SharedMap {
    private final Map<String, Integer> scores = new HashMap<>();

    void record(String name, int score) {
        scores.put(name, score);
    }

    public static void main(String[] args) throws InterruptedException {
        SharedMap board = new SharedMap();
        Thread first = new Thread(() -> board.record("ann", 1));
        Thread second = new Thread(() -> board.record("bob", 2));
        first.start();
        second.start();
        first.join();
        second.join();
        if (board.scores.size() != 2 || board.scores.get("ann") == null || board.scores.get("bob") == null) {
            throw new IllegalStateException("a score is missing");
        }
    }
}
