// A synchronized wrapper protects its own calls, and not the iterator that another collection takes of it: `containsAll`, `equals` and
// `new HashSet` walk the wrapped list without the wrapper's lock, while another thread changes it under the lock.
// fissure: must-be-bug failure WrappedLists.covers
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class WrappedLists {
    private final List<String> needed = Collections.synchronizedList(new ArrayList<>(List.of("flour", "salt", "yeast")));
    private final List<String> stock = Collections.synchronizedList(new ArrayList<>(needed));

    private boolean covers() {
        return stock.containsAll(needed);
    }

    private void substitute() {
        needed.add("soda");
    }

    public static void main(String[] arguments) throws InterruptedException {
        WrappedLists kitchen = new WrappedLists();
        Thread cook = new Thread(kitchen::covers, "cook");
        Thread buyer = new Thread(kitchen::substitute, "buyer");
        cook.start();
        buyer.start();
        cook.join();
        buyer.join();
    }
}
