// The correct twin of ParallelSum: the threads add to an AtomicInteger.
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

public class ParallelSumFixed {
    private static final AtomicInteger SUM = new AtomicInteger();

    public static void main(String[] args) {
        IntStream.range(0, 4).parallel().forEach(number -> SUM.addAndGet(number));
        if (SUM.get() != 6) {
            throw new IllegalStateException("the sum is " + SUM.get());
        }
    }
}
