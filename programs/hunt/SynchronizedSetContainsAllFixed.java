// The correct twin of SynchronizedSetContainsAll: the reader locks the collection over which containsAll iterates.
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.Vector;

public class SynchronizedSetContainsAllFixed {
    public static void main(String[] args) throws InterruptedException {
        Set<Integer> numbers = Collections.synchronizedSet(new HashSet<>(List.of(1, 2, 3)));
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
