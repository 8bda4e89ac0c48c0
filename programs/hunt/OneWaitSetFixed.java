// The correct variant of OneWaitSet: every waiting thread is woken.
import java.util.ArrayDeque;

public class OneWaitSetFixed {
    private final ArrayDeque<Integer> belt = new ArrayDeque<>();

    private synchronized void load(int crate) throws InterruptedException {
        while (belt.size() == 1) {
            wait();
        }
        belt.add(crate);
        notifyAll();
    }

    private synchronized void unload() throws InterruptedException {
        while (belt.isEmpty()) {
            wait();
        }
        belt.remove();
        notifyAll();
    }

    interface Task {
        void run() throws InterruptedException;
    }

    private static Thread worker(Task task) {
        return new Thread(() -> {
            try {
                task.run();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        });
    }

    public static void main(String[] args) throws InterruptedException {
        OneWaitSetFixed dock = new OneWaitSetFixed();
        Thread[] workers = {
            worker(() -> dock.load(7)), worker(() -> dock.load(8)), worker(dock::unload), worker(dock::unload),
        };
        for (Thread worker : workers) {
            worker.start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
    }
}
