import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;

/** Calls the main method of a program again and again, uncontrolled, and prints how many nanoseconds that took. */
public class Repeat {
    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        Method main = Class.forName(arguments[0]).getMethod("main", String[].class);
        int times = Integer.parseInt(arguments[1]);
        long begun = System.nanoTime();
        for (int time = 0; time < times; time++) {
            main.invoke(null, (Object) new String[0]);
            joinAll();
        }
        out.println(System.nanoTime() - begun);
        System.exit(0);
    }

    /** Waits for the threads that the program left running. */
    private static void joinAll() throws InterruptedException {
        Thread self = Thread.currentThread();
        Thread[] threads = new Thread[self.getThreadGroup().activeCount() + 8];
        int count = self.getThreadGroup().enumerate(threads);
        for (int i = 0; i < count; i++) {
            if (threads[i] != self && !threads[i].isDaemon()) {
                threads[i].join();
            }
        }
    }
}
