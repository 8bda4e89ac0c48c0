// Recursive tasks and parallel streams, and the order in which they run.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.stream.IntStream;

public class ForkJoin {
    private static final List<Integer> LOG = Collections.synchronizedList(new ArrayList<>());

    static class Sum extends RecursiveTask<Integer> {
        private final int from;
        private final int to;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Integer compute() {
            if (to - from <= 4) {
                LOG.add(from);
                return IntStream.range(from, to).sum();
            }
            int middle = (from + to) / 2;
            Sum left = new Sum(from, middle);
            left.fork();
            return new Sum(middle, to).compute() + left.join();
        }
    }

    public static void main(String[] args) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(3);
        System.out.println(pool.submit(new Sum(0, 64)).get());
        pool.shutdown();
        System.out.println(IntStream.range(0, 40).parallel().peek(LOG::add).sum());
        System.out.println(LOG);
    }
}
