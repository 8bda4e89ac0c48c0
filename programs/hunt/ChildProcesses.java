// Two threads wait for the end of a process each, which takes longer than a thread may be silent, and add up exit codes without a lock.
// fissure: must-be-bug failure ChildProcesses.main
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

public class ChildProcesses {
    private static final CountDownLatch ENDED = new CountDownLatch(2);
    private static volatile int sum;

    public static void main(String[] arguments) throws InterruptedException {
        Thread first = new Thread(() -> add("sleep 0.4; exit 3"));
        Thread second = new Thread(() -> add("echo x; exit 4"));
        first.start();
        second.start();
        first.join();
        second.join();
        if (sum != 7) {
            throw new IllegalStateException("sum " + sum);
        }
        System.out.println("done");
    }

    private static void add(String script) {
        try {
            Process process = new ProcessBuilder("sh", "-c", script).start();
            int code = process.waitFor();
            ENDED.countDown();
            ENDED.await();
            int before = sum;
            sum = before + code;
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
