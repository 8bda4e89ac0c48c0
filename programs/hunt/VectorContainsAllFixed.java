// The correct twin of VectorContainsAll: the reader locks the argument first.
import java.util.List;
import java.util.Vector;

public class VectorContainsAllFixed {
    public static void main(String[] args) throws InterruptedException {
        Vector<Integer> numbers = new Vector<>(List.of(1, 2, 3));
        Vector<Integer> wanted = new Vector<>(List.of(1, 2));
        Thread reader = new Thread(() -> {
            synchronized (wanted) {
                numbers.containsAll(wanted);
            }
        }, "reader");
        Thread writer = new Thread(() -> wanted.add(3), "writer");
        reader.start();
        writer.start();
        reader.join();
        writer.join();
    }
}
