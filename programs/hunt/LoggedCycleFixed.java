// LoggedCycle with one order of the locks.
public class LoggedCycleFixed {
    static final StringBuilder LINES = new StringBuilder();

    static void log(String line) {
        synchronized (LINES) {
            LINES.append(line);
        }
    }

    static void move(Object first, Object second) {
        synchronized (first) {
            log("from");
            synchronized (second) {
                log("to");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Object left = new Object();
        Object right = new Object();
        Thread first = new Thread(() -> move(left, right));
        Thread second = new Thread(() -> move(left, right));
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
