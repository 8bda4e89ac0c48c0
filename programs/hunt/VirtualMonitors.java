// Two virtual threads enter two monitors in opposite orders, and may wait for each other for ever.
// fissure: release 21
// fissure: must-be-bug deadlock VirtualMonitors.move*
public class VirtualMonitors {
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
        Thread second = Thread.ofVirtual().name("to the left").start(() -> move(RIGHT, LEFT));
        first.join();
        second.join();
    }
}
