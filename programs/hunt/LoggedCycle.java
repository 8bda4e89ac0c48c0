// Two threads acquire two locks in opposite orders; a third lock, of the log, is always acquired last and is a bystander.
// fissure: must-be-bug deadlock LoggedCycle.move
// fissure: cause cycle LoggedCycle.move:16 LoggedCycle.move:18
// fissure: not-cause .log:
// fissure: repair
public class LoggedCycle {
    static final StringBuilder LINES = new StringBuilder();

    static void log(String line) {
        synchronized (LINES) {
            LINES.append(line);
        }
    }

    static void move(Object from, Object to) {
        synchronized (from) {
            log("from");
            synchronized (to) {
                log("to");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Object left = new Object();
        Object right = new Object();
        Thread first = new Thread(() -> move(left, right));
        Thread second = new Thread(() -> move(right, left));
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
