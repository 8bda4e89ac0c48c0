// A thousand virtual threads that contend for a lock and sleep.
// fissure: release 21
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class ManyVirtualThreads {
    private static int steps;
    private static int order;

    static synchronized void step(int number) {
        steps++;
        order = 31 * order + number;
    }

    public static void main(String[] args) {
        int count = args.length == 0 ? 1000 : Integer.parseInt(args[0]);
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < count; i++) {
                int number = i;
                executor.submit(() -> {
                    step(number);
                    Thread.sleep(number % 7);
                    step(number);
                    return null;
                });
            }
        }
        System.out.println(steps + " " + order);
    }
}
