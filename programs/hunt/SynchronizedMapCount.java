// Two threads increment a value of a synchronized map by get and put, and an increment is lost.
// fissure: must-be-bug atomicity-violation SynchronizedMapCount$Counter.count
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

public class SynchronizedMapCount {
    static class Counter {
        private final Map<String, Integer> counts;

        Counter(Map<String, Integer> counts) {
            this.counts = counts;
        }

        synchronized void count(String word) {
            Integer before = counts.get(word);
            counts.put(word, before == null ? 1 : before + 1);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Map<String, Integer> counts = Collections.synchronizedMap(new HashMap<>());
        Thread first = new Thread(() -> new Counter(counts).count("word"));
        Thread second = new Thread(() -> new Counter(counts).count("word"));
        first.start();
        second.start();
        first.join();
        second.join();
        if (counts.get("word") != 2) {
            throw new IllegalStateException("counted " + counts);
        }
    }
}
