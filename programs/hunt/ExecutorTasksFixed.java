// The correct twin of ExecutorTasks: the tasks increment in one synchronized method.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class ExecutorTasksFixed {
    static class Total {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void increment() {
            value++;
        }
    }

    static class Task {
        private final Total total;

        Task(Total total) {
            this.total = total;
        }

        synchronized void count() {
            total.increment();
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
