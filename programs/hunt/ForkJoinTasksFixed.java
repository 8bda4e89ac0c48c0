// The correct twin of ForkJoinTasks: the tasks increment in one synchronized method.
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

public class ForkJoinTasksFixed {
    static class Total {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void increment() {
            value++;
        }
    }

    static class Task extends RecursiveAction {
        private final Total total;
        private final int size;

        Task(Total total, int size) {
            this.total = total;
            this.size = size;
        }

        synchronized void count() {
            total.increment();
        }

        @Override
        protected void compute() {
            if (size == 1) {
                count();
            } else {
                invokeAll(new Task(total, size / 2), new Task(total, size / 2));
            }
        }
    }

    public static void main(String[] args) {
        Total total = new Total();
        ForkJoinPool pool = new ForkJoinPool(2);
        pool.invoke(new Task(total, 4));
        pool.shutdown();
        if (total.get() != 4) {
            throw new IllegalStateException("counted " + total.get());
        }
    }
}
