// The thread that lets another collection walk a synchronized wrapper holds the wrapper's lock, as its documentation demands.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class WrappedListsFixed {
    private final List<String> needed = Collections.synchronizedList(new ArrayList<>(List.of("flour", "salt", "yeast")));
    private final List<String> stock = Collections.synchronizedList(new ArrayList<>(needed));

    private boolean covers() {
        synchronized (needed) {
            return stock.containsAll(needed);
        }
    }

    private void substitute() {
        needed.add("soda");
    }

    public static void main(String[] arguments) throws InterruptedException {
        WrappedListsFixed kitchen = new WrappedListsFixed();
        Thread cook = new Thread(kitchen::covers, "cook");
        Thread buyer = new Thread(kitchen::substitute, "buyer");
        cook.start();
        buyer.start();
        cook.join();
        buyer.join();
    }
}
