// The twin of ParallelSum: the stream adds up.
import java.util.stream.IntStream;

public class ParallelSumFixed {
    public static void main(String[] args) {
        int sum = IntStream.range(0, 4).parallel().sum();
        if (sum != 6) {
            throw new IllegalStateException("the sum is " + sum);
        }
    }
}
