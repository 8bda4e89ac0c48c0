// The threads of a parallel stream add to one variable; without interference the caller does all of it.
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
