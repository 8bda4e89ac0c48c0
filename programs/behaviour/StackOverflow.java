// Endless recursion through synchronized methods and blocks: the stack overflows and every lock is released again.
// The option -Xss256k makes the stack small, so that it overflows early.
// fissure: java -Xss256k
public class StackOverflow {
    private final Object inner = new Object();
    private int depth;

    synchronized void descend() {
        depth++;
        synchronized (inner) {
            descend();
        }
    }

    boolean overflows() {
        try {
            descend();
            return false;
        } catch (StackOverflowError e) {
            return depth > 100;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        StackOverflow state = new StackOverflow();
        System.out.println(state.overflows());
        System.out.println(Thread.holdsLock(state) + " " + Thread.holdsLock(state.inner));
        Thread other = new Thread(() -> {
            synchronized (state) {
                synchronized (state.inner) {
                    System.out.println("free");
                }
            }
        });
        other.setDaemon(true);
        other.start();
        other.join(10_000);
    }
}
