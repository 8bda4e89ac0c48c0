// The correct twin of MapCounter: the threads call merge.
import java.util.concurrent.ConcurrentHashMap;

public class MapCounterFixed {
    private static final ConcurrentHashMap<String, Integer> COUNTS = new ConcurrentHashMap<>();

    private static void count(String word) {
        COUNTS.merge(word, 1, Integer::sum);
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> count("word"));
        Thread second = new Thread(() -> count("word"));
        first.start();
        second.start();
        first.join();
        second.join();
        if (COUNTS.get("word") != 2) {
            throw new IllegalStateException("counted " + COUNTS.get("word"));
        }
    }
}
