// The correct twin: two threads wait for the end of a process each, and add up exit codes under a lock.
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

public class ChildProcessesFixed {
    private static final CountDownLatch ENDED = new CountDownLatch(2);
    private static int sum;

    public static void main(String[] arguments) throws InterruptedException {
        Thread first = new Thread(() -> add("sleep 0.4; exit 3"));
        Thread second = new Thread(() -> add("echo x; exit 4"));
        first.start();
        second.start();
        first.join();
        second.join();
        synchronized (ChildProcessesFixed.class) {
            if (sum != 7) {
                throw new IllegalStateException("sum " + sum);
            }
        }
        System.out.println("done");
    }

    private static void add(String script) {
        try {
            Process process = new ProcessBuilder("sh", "-c", script).start();
            int code = process.waitFor();
            ENDED.countDown();
            ENDED.await();
            synchronized (ChildProcessesFixed.class) {
                sum += code;
            }
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
