// Stages of completable futures in the common pool and in a pool of their own.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class Futures {
    private static final List<String> LOG = Collections.synchronizedList(new ArrayList<>());

    private static int work(String name, int value) {
        LOG.add(name + " " + value);
        return value;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService own = Executors.newCachedThreadPool();
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int number = i;
            CompletableFuture<Integer> left = CompletableFuture.supplyAsync(() -> work("left", number));
            CompletableFuture<Integer> right = CompletableFuture.supplyAsync(() -> work("right", number), own);
            all.add(left.thenCombineAsync(right, (a, b) -> work("both", a + b)).thenApply(n -> n * 2));
        }
        CompletableFuture<Object> first = CompletableFuture.anyOf(all.toArray(new CompletableFuture<?>[0]));
        CompletableFuture<Integer> late =
                new CompletableFuture<Integer>().completeOnTimeout(7, 50, TimeUnit.MILLISECONDS);
        CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).get();
        System.out.println(first.get() + " " + late.get());
        own.shutdown();
        LOG.forEach(System.out::println);
    }
}
