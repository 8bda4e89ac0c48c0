// The correct twin of SharedMap: it uses a ConcurrentHashMap.
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

public class SharedMapFixed {
    private final Map<String, Integer> scores = new ConcurrentHashMap<>();

    void record(String name, int score) {
        scores.put(name, score);
    }

    public static void main(String[] args) throws InterruptedException {
        SharedMapFixed board = new SharedMapFixed();
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
