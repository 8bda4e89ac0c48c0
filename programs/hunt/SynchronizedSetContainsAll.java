// Section 5.3 of the AtomFuzzer paper: containsAll of a synchronized wrapper walks through the other collection, which it has not
// locked. A Vector locks itself for each step of its iterator and notices that it was changed in between.
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
