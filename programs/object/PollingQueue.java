// A queue whose clear polls until it is empty: an element offered during clear may be removed although a later one
// stays; drain, which returns the removed elements, has the same bug.
// fissure: object --core offer,poll,peek
// fissure: non-atomic clear drain
// fissure: atomic isEmpty
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

public class PollingQueue {
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

    public void clear() {
        while (poll() != null) {
            continue;
        }
    }

    public List<Integer> drain() {
        List<Integer> taken = new ArrayList<>();
        for (Integer next = poll(); next != null; next = poll()) {
            taken.add(next);
        }
        return taken;
    }
}
