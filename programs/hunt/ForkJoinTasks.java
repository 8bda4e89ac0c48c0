// Forked tasks increment a total by separate locked get and set calls, and an increment is lost.
// fissure: must-be-bug atomicity-violation ForkJoinTasks$Task.count
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

public class ForkJoinTasks {
    static class Total {
        private int value;

        synchronized int get() {
            return value;
        }

        synchronized void set(int value) {
            this.value = value;
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
            total.set(total.get() + 1);
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
