// The correct twin: count takes the same lock as move.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class MovedItemFixed {
    private static final List<String> todo = Collections.synchronizedList(new ArrayList<>(List.of("a", "b")));
    private static final List<String> done = Collections.synchronizedList(new ArrayList<>());

    static synchronized void move() {
        done.add(todo.remove(0));
    }

    static synchronized int count() {
        return todo.size() + done.size();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(MovedItemFixed::move);
        Thread other = new Thread(MovedItemFixed::count);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
