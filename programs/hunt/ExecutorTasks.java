// Tasks of a thread pool increment a total by separate locked get and set calls, and an increment is lost.
// fissure: must-be-bug atomicity-violation ExecutorTasks$Task.count
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class ExecutorTasks {
    static class Total {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void set(int value) {
            this.value = value;
        }
    }

    static class Task {
        private final Total total;

        Task(Total total) {
            this.total = total;
        }

        synchronized void count() {
            total.set(total.get() + 1);
        }
    }

    public static void main(String[] args) throws Exception {
        Total total = new Total();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<?>> futures = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            futures.add(pool.submit(new Task(total)::count));
        }
        for (Future<?> future : futures) {
            future.get();
        }
        pool.shutdown();
        if (total.get() != 3) {
            throw new IllegalStateException("counted " + total.get());
        }
    }
}
