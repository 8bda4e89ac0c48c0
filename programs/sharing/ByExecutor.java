// The object is the result of a task of a thread pool.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByExecutor$Box.value
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class ByExecutor {
    static class Box {
        int value;
    }

    static class Make implements Callable<Box> {
        @Override
        public Box call() {
            Box box = new Box();
            box.value++;
            return box;
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Box>> results = pool.invokeAll(List.of(new Make(), new Make()));
        for (Future<Box> result : results) {
            result.get().value++;
        }
        pool.shutdown();
        System.out.println("done");
    }
}
