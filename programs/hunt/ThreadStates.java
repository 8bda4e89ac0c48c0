// Polls Thread.getState until it has the expected value: a thread that waits for the scheduler must not be shown as waiting.
public class ThreadStates {
    private static final Object MONITOR = new Object();
    private static final Object HELD = new Object();
    private static boolean isOver;
    private static boolean hasEntered;

    private static void await(Thread thread, Thread.State expected) {
        for (int i = 0; i < 10_000; i++) {
            if (thread.getState() == expected) {
                return;
            }
            Thread.yield();
        }
        throw new IllegalStateException(thread.getName() + " is " + thread.getState() + ", not " + expected);
    }

    private static void waitInMonitor() {
        synchronized (MONITOR) {
            while (!isOver) {
                try {
                    MONITOR.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }

    private static void enter() {
        synchronized (HELD) {
            hasEntered = true;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread waits = new Thread(ThreadStates::waitInMonitor, "waits");
        Thread enters = new Thread(ThreadStates::enter, "enters");
        await(waits, Thread.State.NEW);
        waits.start();
        await(waits, Thread.State.WAITING);
        synchronized (HELD) {
            enters.start();
            await(enters, Thread.State.BLOCKED);
        }
        synchronized (MONITOR) {
            isOver = true;
            MONITOR.notifyAll();
            await(waits, Thread.State.BLOCKED);
        }
        waits.join();
        enters.join();
        await(waits, Thread.State.TERMINATED);
    }
}
