// The map behind an unmodifiable view is one for several threads, whose iterators see changes or not, and do not fail.
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

public class ReadOnlyViewFixed {
    private final Map<String, Integer> scores = new ConcurrentHashMap<>(Map.of("ann", 3, "ben", 4));
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
        ReadOnlyViewFixed board = new ReadOnlyViewFixed();
        Thread reader = new Thread(board::total, "reader");
        Thread player = new Thread(() -> board.join("cid"), "player");
        reader.start();
        player.start();
        reader.join();
        player.join();
    }
}
