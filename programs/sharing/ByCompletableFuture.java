// The object is handed from stage to stage of a CompletableFuture, in different threads.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByCompletableFuture$Box.value
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class ByCompletableFuture {
    static class Box {
        int value;

        Box bumped() {
            value++;
            return this;
        }
    }

    public static void main(String[] args) {
        ExecutorService one = Executors.newSingleThreadExecutor();
        ExecutorService other = Executors.newSingleThreadExecutor();
        CompletableFuture<Box> future =
            CompletableFuture.supplyAsync(Box::new, one).thenApplyAsync(Box::bumped, one).thenApplyAsync(Box::bumped, other);
        future.join().value++;
        one.shutdown();
        other.shutdown();
        System.out.println("done");
    }
}
