// A method moves an item between two synchronized lists; a count between the removal and the addition misses the item.
// fissure: must-find atomizer atomicity-violation MovedItem.move
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class MovedItem {
    private static final List<String> todo = Collections.synchronizedList(new ArrayList<>(List.of("a", "b")));
    private static final List<String> done = Collections.synchronizedList(new ArrayList<>());

    static synchronized void move() {
        done.add(todo.remove(0));
    }

    static int count() {
        return todo.size() + done.size();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(MovedItem::move);
        Thread other = new Thread(MovedItem::count);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
