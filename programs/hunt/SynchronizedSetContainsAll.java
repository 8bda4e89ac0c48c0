// Section 5.3 of the AtomFuzzer paper: containsAll of a synchronized wrapper iterates over the other collection without its lock.
// That is a Vector, which locks each step of its iterator: an add between two steps causes a ConcurrentModificationException.
// fissure: must-be-bug atomicity-violation java.util.Collections$SynchronizedCollection.containsAll:*
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.Vector;

public class SynchronizedSetContainsAll {
    public static void main(String[] args) throws InterruptedException {
        Set<Integer> numbers = Collections.synchronizedSet(new HashSet<>(List.of(1, 2, 3)));
        Vector<Integer> wanted = new Vector<>(List.of(1, 2));
        Thread reader = new Thread(() -> numbers.containsAll(wanted), "reader");
        Thread writer = new Thread(() -> wanted.add(3), "writer");
        reader.start();
        writer.start();
        reader.join();
        writer.join();
    }
}
