// A pool's threads hold an object in a field, and tasks reach it through Thread.currentThread.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByThreadFactory$Box.value
// fissure: must-find racer data-race ByThreadFactory$Worker.used
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;

public class ByThreadFactory {
    static class Box {
        int value;
    }

    static class Worker extends Thread {
        private final Box box;
        int used;

        Worker(Runnable task, Box box) {
            super(task);
            this.box = box;
        }

        static void use() {
            Worker worker = (Worker) Thread.currentThread();
            worker.used++;
            worker.box.value++;
        }
    }

    public static void main(String[] args) throws Exception {
        Box box = new Box();
        Worker[] workers = new Worker[1];
        ThreadFactory factory = task -> workers[0] = new Worker(task, box);
        ExecutorService pool = Executors.newSingleThreadExecutor(factory);
        Future<?> future = pool.submit(Worker::use);
        box.value++;
        workers[0].used++;
        future.get();
        pool.shutdown();
        System.out.println("done");
    }
}
