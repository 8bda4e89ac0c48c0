// One thread walks an unmodifiable view of a map that another thread changes. The view is another object than the map, and protects nothing.
// fissure: must-be-bug failure ReadOnlyView.total
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

public class ReadOnlyView {
    private final Map<String, Integer> scores = new HashMap<>(Map.of("ann", 3, "ben", 4));
    private final Map<String, Integer> published = Collections.unmodifiableMap(scores);

    private int total() {
        int total = 0;
        for (int score : published.values()) {
            total += score;
        }
        return total;
    }

    private void join(String name) {
        scores.put(name, 1);
    }

    public static void main(String[] arguments) throws InterruptedException {
        ReadOnlyView board = new ReadOnlyView();
        Thread reader = new Thread(board::total, "reader");
        Thread player = new Thread(() -> board.join("cid"), "player");
        reader.start();
        player.start();
        reader.join();
        player.join();
    }
}
