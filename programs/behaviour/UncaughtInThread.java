// Exceptions end threads, not the program; uncaught-exception handlers are called as without Fissure.
public class UncaughtInThread {
    public static void main(String[] args) throws InterruptedException {
        Thread plain = new Thread(() -> {
            throw new IllegalArgumentException("in a thread");
        }, "plain");
        plain.start();
        plain.join();
        Thread handled = new Thread(() -> {
            Object nothing = null;
            synchronized (UncaughtInThread.class) {
                nothing.hashCode();
            }
        }, "handled");
        handled.setUncaughtExceptionHandler((thread, error) ->
                System.out.println(thread.getName() + ": " + error.getClass().getName()));
        handled.start();
        handled.join();
        System.out.println(Thread.holdsLock(UncaughtInThread.class));
    }
}
