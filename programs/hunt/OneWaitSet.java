// Producers and consumers wait for each other in one wait set, and `notify` may wake a thread of the wrong kind: then all wait.
// fissure: must-confirm deadlock OneWaitSet.*
// fissure: runs 40
import java.util.ArrayDeque;

public class OneWaitSet {
    private final ArrayDeque<Integer> belt = new ArrayDeque<>();

    private synchronized void load(int crate) throws InterruptedException {
        while (belt.size() == 1) {
            wait();
        }
        belt.add(crate);
        notify();
    }

    private synchronized void unload() throws InterruptedException {
        while (belt.isEmpty()) {
            wait();
        }
        belt.remove();
        notify();
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
        OneWaitSet dock = new OneWaitSet();
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
