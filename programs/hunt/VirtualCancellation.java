// A virtual thread moves an element from one queue to another. If it is cancelled in between, the element is in neither.
// fissure: release 21
// fissure: must-be-bug failure VirtualCancellation.main
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class VirtualCancellation {
    private static final BlockingQueue<String> FROM = new ArrayBlockingQueue<>(1);
    private static final BlockingQueue<String> TO = new ArrayBlockingQueue<>(1);

    static Void move() throws InterruptedException {
        String element = FROM.take();
        TO.put(element);
        return null;
    }

    public static void main(String[] args) throws InterruptedException {
        FROM.add("result");
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Void> moved = executor.submit(VirtualCancellation::move);
            moved.cancel(true);
        }
        if (FROM.size() + TO.size() != 1) {
            throw new IllegalStateException("the element is lost");
        }
    }
}
