// The correct twin of SynchronizedMapCount: the threads call merge.
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

public class SynchronizedMapCountFixed {
    static class Counter {
        private final Map<String, Integer> counts;

        Counter(Map<String, Integer> counts) {
            this.counts = counts;
        }

        synchronized void count(String word) {
            counts.merge(word, 1, Integer::sum);
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
