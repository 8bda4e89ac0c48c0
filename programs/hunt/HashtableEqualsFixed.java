// The correct twin of HashtableEquals: a common lock excludes writes during the comparison.
import java.util.Hashtable;
import java.util.Map;

public class HashtableEqualsFixed {
    public static void main(String[] args) throws InterruptedException {
        Hashtable<String, Integer> left = new Hashtable<>(Map.of("a", 1, "b", 2));
        Hashtable<String, Integer> right = new Hashtable<>(Map.of("a", 1, "b", 2));
        Object comparing = new Object();
        Thread reader = new Thread(() -> {
            synchronized (comparing) {
                left.equals(right);
            }
        }, "reader");
        Thread writer = new Thread(() -> {
            synchronized (comparing) {
                right.put("b", 3);
            }
        }, "writer");
        reader.start();
        writer.start();
        reader.join();
        writer.join();
    }
}
