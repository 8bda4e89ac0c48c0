import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

// Shared by all kernels: warm-up, measuring, and the lines that `cargo xtask bench` reads.
public final class Kernel {
    /** The work of a kernel; it returns what must stay alive while the heap is measured. */
    public interface Body {
        Object run(int scale) throws InterruptedException;
    }

    /** Keeps results alive, so that neither the compiler nor the collector drops them. */
    private static volatile Object result;

    private Kernel() {
    }

    /** Runs the body three times to warm up, then measures it once. */
    public static void measure(String[] args, Body body) throws InterruptedException {
        int scale = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        for (int i = 0; i < 3; i++) {
            result = body.run(1);
        }
        result = null;
        System.gc();
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long used = system.getProcessCpuTime();
        long started = System.nanoTime();
        result = body.run(scale);
        long elapsed = System.nanoTime() - started;
        used = system.getProcessCpuTime() - used;
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        System.out.println("elapsed_ns " + elapsed);
        System.out.println("cpu_ns " + used);
        System.out.println("heap_bytes " + (runtime.totalMemory() - runtime.freeMemory()));
        if (result == null) {
            throw new AssertionError("the kernel's data must be alive until here");
        }
    }

    /** How many threads a kernel uses: its second argument. */
    public static int threads(String[] args) {
        return args.length > 1 ? Integer.parseInt(args[1]) : 2;
    }

    /** The work of one of several threads. */
    public interface Part {
        void run(int thread) throws Exception;
    }

    /** Runs a part in each of several threads. */
    public static void parts(int threads, Part part) throws InterruptedException {
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            all[i] = new Thread(() -> {
                try {
                    part.run(number);
                } catch (Exception failure) {
                    throw new IllegalStateException(failure);
                }
            });
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    /** Checks a kernel's own result. */
    public static void check(boolean isRight, String what) {
        if (!isRight) {
            throw new AssertionError(what);
        }
    }

    /** Runs a task in several threads at once. */
    public static void inThreads(int threads, Runnable task) throws InterruptedException {
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = new Thread(task);
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
    }
}
