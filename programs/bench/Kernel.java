// Shared by all kernels: warm-up, measuring, and the two lines that `cargo xtask bench` reads.
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
        long started = System.nanoTime();
        result = body.run(scale);
        long elapsed = System.nanoTime() - started;
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        System.out.println("elapsed_ns " + elapsed);
        System.out.println("heap_bytes " + (runtime.totalMemory() - runtime.freeMemory()));
        if (result == null) {
            throw new AssertionError("the kernel's data must be alive until here");
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
