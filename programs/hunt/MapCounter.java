// Two threads increment a value of a ConcurrentHashMap by get and put; each call is atomic, both together are not.
// fissure: must-be-bug failure MapCounter.main
// fissure: program-exit 1
import java.util.concurrent.ConcurrentHashMap;

public class MapCounter {
    private static final ConcurrentHashMap<String, Integer> COUNTS = new ConcurrentHashMap<>();

    private static void count(String word) {
        Integer known = COUNTS.get(word);
        COUNTS.put(word, known == null ? 1 : known + 1);
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
