// Hashtable.equals holds only its own lock and reads the other table key by key: a put into the other table can happen during the
// comparison, which may return false for two tables that were equal before and after it.
// fissure: must-confirm atomicity-violation java.util.Hashtable.equals
import java.util.Hashtable;
import java.util.Map;

public class HashtableEquals {
    public static void main(String[] args) throws InterruptedException {
        Hashtable<String, Integer> left = new Hashtable<>(Map.of("a", 1, "b", 2));
        Hashtable<String, Integer> right = new Hashtable<>(Map.of("a", 1, "b", 2));
        Thread reader = new Thread(() -> left.equals(right), "reader");
        Thread writer = new Thread(() -> right.put("b", 3), "writer");
        reader.start();
        writer.start();
        reader.join();
        writer.join();
    }
}
