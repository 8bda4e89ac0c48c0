// The JDK creates an object of the class that a system property names.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByProperty$Box.value
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;

public class ByProperty {
    static class Box {
        int value;
    }

    public static class Maker implements ForkJoinPool.ForkJoinWorkerThreadFactory {
        @Override
        public ForkJoinWorkerThread newThread(ForkJoinPool pool) {
            box.value++;
            return ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
        }
    }

    static Box box = new Box();

    public static void main(String[] args) throws InterruptedException {
        String begin = "java.util.concurrent.ForkJoinPool.common.";
        System.setProperty(begin + "threadFactory", "ByProperty$Maker");
        System.setProperty(begin + "parallelism", "2");
        Box own = box;
        Thread thread = new Thread(() -> ForkJoinPool.commonPool().submit(() -> 1).join());
        thread.start();
        own.value++;
        thread.join();
        System.out.println("done");
    }
}
