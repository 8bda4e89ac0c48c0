// Many threads wait in one monitor, and each notification wakes one of them.
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

public class Notifications {
    private final ArrayDeque<Integer> items = new ArrayDeque<>();
    private final List<String> log = new ArrayList<>();

    synchronized void put(int item) throws InterruptedException {
        while (items.size() >= 2) {
            wait(1_000L);
        }
        items.add(item);
        notify();
    }

    synchronized int take(String who) throws InterruptedException {
        while (items.isEmpty()) {
            wait();
        }
        int item = items.remove();
        log.add(who + " took " + item);
        notify();
        return item;
    }

    public static void main(String[] args) throws InterruptedException {
        Notifications buffer = new Notifications();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            threads.add(new Thread(() -> run(() -> buffer.take("taker " + number)), "taker-" + i));
            threads.add(new Thread(() -> run(() -> buffer.put(number)), "putter-" + i));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(buffer.log);
    }

    interface Action {
        void run() throws InterruptedException;
    }

    private static void run(Action action) {
        for (int i = 0; i < 3; i++) {
            try {
                action.run();
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
