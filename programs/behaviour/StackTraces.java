// Stack traces show the program's own frames and nothing else: in exceptions, of the current and of other threads.
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

public class StackTraces {
    private final CountDownLatch inside = new CountDownLatch(1);
    private boolean go;

    synchronized void block() {
        inside.countDown();
        while (!go) {
            try {
                wait();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    synchronized void release() {
        go = true;
        notifyAll();
    }

    synchronized void fail() {
        throw new IllegalStateException("on purpose");
    }

    static void show(String title, StackTraceElement[] frames) {
        System.out.println(title);
        for (StackTraceElement frame : frames) {
            String name = frame.getClassName();
            if (!name.startsWith("java.") && !name.startsWith("jdk.") && !name.contains("$$Lambda")) {
                System.out.println("  " + frame);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        StackTraces state = new StackTraces();
        Thread blocked = new Thread(state::block, "blocked");
        blocked.start();
        state.inside.await();
        while (blocked.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        Map<String, StackTraceElement[]> traces = new TreeMap<>();
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            if (thread.getThreadGroup() != null && thread.getThreadGroup().getName().equals("main")) {
                traces.put(thread.getName(), frames);
            }
        });
        traces.forEach(StackTraces::show);
        state.release();
        blocked.join();
        try {
            state.fail();
        } catch (IllegalStateException e) {
            show(e.getMessage(), e.getStackTrace());
            e.printStackTrace();
        }
        show("current", Thread.currentThread().getStackTrace());
        StackWalker.getInstance().forEach(frame -> System.out.println("walked " + frame));
    }
}
