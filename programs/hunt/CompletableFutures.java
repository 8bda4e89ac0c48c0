// Two asynchronous stages increment a total by separate get and set calls, and an increment is lost.
// fissure: must-be-bug atomicity-violation CompletableFutures$Task.count
import java.util.concurrent.CompletableFuture;

public class CompletableFutures {
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

    public static void main(String[] args) {
        Total total = new Total();
        CompletableFuture<Void> first = CompletableFuture.runAsync(new Task(total)::count);
        CompletableFuture<Void> second = CompletableFuture.runAsync(new Task(total)::count);
        first.thenCombine(second, (left, right) -> total.get()).thenAccept(sum -> {
            if (sum != 2) {
                throw new IllegalStateException("counted " + sum);
            }
        }).join();
    }
}
