// The correct twin of CompletableFutures: the stages increment in one synchronized method.
import java.util.concurrent.CompletableFuture;

public class CompletableFuturesFixed {
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
