// Seats of a theatre. A balcony seat, from number 100 on, is claimed in two steps: two visitors may get the same one. Only a
// constant in the code shows which seat numbers to test.
// fissure: object --core add,remove,contains
// fissure: non-atomic claim
import java.util.HashSet;
import java.util.Set;

public class Seats {
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

    public boolean claim(int seat) {
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
