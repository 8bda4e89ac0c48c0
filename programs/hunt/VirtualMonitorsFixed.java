// Two virtual threads enter two monitors in the same order.
// fissure: release 21
public class VirtualMonitorsFixed {
    private static final Object LEFT = new Object();
    private static final Object RIGHT = new Object();
    private static int moves;

    static void move(Object from, Object to) {
        synchronized (from) {
            synchronized (to) {
                moves++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = Thread.ofVirtual().name("to the right").start(() -> move(LEFT, RIGHT));
        Thread second = Thread.ofVirtual().name("to the left").start(() -> move(LEFT, RIGHT));
        first.join();
        second.join();
    }
}
