// Section 5.3 of the AtomFuzzer paper: removeAll of a synchronized wrapper calls contains of the other collection per element.
// Another thread clears that collection: both elements should be removed or none, but one may be left.
// fissure: must-be-bug atomicity-violation java.util.Collections$SynchronizedCollection.removeAll:*
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class SynchronizedListRemoveAll {
    public static void main(String[] args) throws InterruptedException {
        List<Integer> numbers = Collections.synchronizedList(new ArrayList<>(List.of(1, 2)));
        List<Integer> unwanted = Collections.synchronizedList(new ArrayList<>(List.of(1, 2)));
        Thread remover = new Thread(() -> numbers.removeAll(unwanted), "remover");
        Thread pardon = new Thread(unwanted::clear, "pardon");
        remover.start();
        pardon.start();
        remover.join();
        pardon.join();
        if (numbers.size() == 1) {
            throw new IllegalStateException("only " + numbers + " is left");
        }
    }
}
