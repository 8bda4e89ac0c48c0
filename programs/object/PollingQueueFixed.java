// The correct twin: the lock is held from the first to the last element.
// fissure: object --core offer,poll,peek
// fissure: atomic clear drain isEmpty
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

public class PollingQueueFixed {
    private final ArrayDeque<Integer> queue = new ArrayDeque<>();

    public synchronized boolean offer(int element) {
        return queue.offer(element);
    }

    public synchronized Integer poll() {
        return queue.poll();
    }

    public synchronized Integer peek() {
        return queue.peek();
    }

    public synchronized boolean isEmpty() {
        return queue.isEmpty();
    }

    public synchronized void clear() {
        while (poll() != null) {
            continue;
        }
    }

    public synchronized List<Integer> drain() {
        List<Integer> taken = new ArrayList<>();
        for (Integer next = poll(); next != null; next = poll()) {
            taken.add(next);
        }
        return taken;
    }
}
