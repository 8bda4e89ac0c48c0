// Thousands of virtual threads contend for a lock while the garbage collector moves objects, where the JVM has them;
// otherwise the program says that there are none.
import java.util.ArrayList;
import java.util.List;

public class VirtualThreads {
    private static int visits;

    static void visit() {
        for (int i = 0; i < 3; i++) {
            synchronized (VirtualThreads.class) {
                visits++;
            }
            Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        if (Runtime.version().feature() < 21) {
            System.out.println("no virtual threads here");
            return;
        }
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            if (i % 1000 == 999) {
                System.gc();
            }
            Runnable body = VirtualThreads::visit;
            threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        synchronized (VirtualThreads.class) {
            System.out.println(visits);
        }
    }
}
