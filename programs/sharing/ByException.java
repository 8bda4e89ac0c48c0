// An exception carries the object out of a task to the thread that waits for the result.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByException$Box.value
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

public class ByException {
    static class Box {
        int value;
    }

    static class Carrier extends RuntimeException {
        private final transient Box box;

        Carrier(Box box) {
            this.box = box;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        FutureTask<Void> task = new FutureTask<>(() -> {
            Box box = new Box();
            box.value++;
            throw new Carrier(box);
        });
        Thread thread = new Thread(task);
        thread.start();
        try {
            task.get();
        } catch (ExecutionException e) {
            ((Carrier) e.getCause()).box.value++;
        }
        thread.join();
        System.out.println("done");
    }
}
