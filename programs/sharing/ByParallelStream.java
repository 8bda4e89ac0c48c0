// Workers of a fork-join pool and the caller share an object through a parallel stream.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByParallelStream$Box.value
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

public class ByParallelStream {
    static class Box {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            numbers.add(i);
        }
        ForkJoinPool pool = new ForkJoinPool(2);
        pool.submit(() -> numbers.parallelStream().forEach(number -> box.value += number)).join();
        box.value++;
        pool.shutdown();
        System.out.println("done");
    }
}
