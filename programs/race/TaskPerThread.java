// One thread per task increments a field; all threads are started before the first is joined.
// fissure: must-find racer data-race TaskPerThread.finished
// fissure: must-find eraser data-race TaskPerThread.finished
import java.util.ArrayList;
import java.util.List;

public class TaskPerThread {
    private static int finished;

    public static void main(String[] args) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int task = 0; task < 4; task++) {
            Thread thread = new Thread(() -> finished++);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }
}
