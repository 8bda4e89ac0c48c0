// The correct twin: all seats are claimed in one step.
// fissure: object --core add,remove,contains
// fissure: atomic claim
import java.util.HashSet;
import java.util.Set;

public class SeatsFixed {
    private final Set<Integer> taken = new HashSet<>();

    public synchronized boolean add(int seat) {
        return taken.add(seat);
    }

    public synchronized boolean remove(int seat) {
        return taken.remove(seat);
    }

    public synchronized boolean contains(int seat) {
        return taken.contains(seat);
    }

    public synchronized boolean claim(int seat) {
        if (seat < 100) {
            return add(seat);
        }
        if (contains(seat)) {
            return false;
        }
        add(seat);
        return true;
    }
}
