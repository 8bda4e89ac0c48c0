// Vector.containsAll holds its own lock, but takes the argument's lock per element; an add between two elements makes it fail.
// fissure: must-be-bug atomicity-violation java.util.Vector.containsAll
import java.util.List;
import java.util.Vector;

public class VectorContainsAll {
    public static void main(String[] args) throws InterruptedException {
        Vector<Integer> numbers = new Vector<>(List.of(1, 2, 3));
        Vector<Integer> wanted = new Vector<>(List.of(1, 2));
        Thread reader = new Thread(() -> numbers.containsAll(wanted), "reader");
        Thread writer = new Thread(() -> wanted.add(3), "writer");
        reader.start();
        writer.start();
        reader.join();
        writer.join();
    }
}
