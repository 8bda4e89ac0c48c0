// The threads of a parallel stream add to one field without a lock; in the reference run the calling thread does all the work.
// fissure: must-be-bug failure ParallelSum.main
// fissure: program-exit 1
import java.util.stream.IntStream;

public class ParallelSum {
    private static int sum;

    public static void main(String[] args) {
        IntStream.range(0, 4).parallel().forEach(number -> sum += number);
        if (sum != 6) {
            throw new IllegalStateException("the sum is " + sum);
        }
    }
}
