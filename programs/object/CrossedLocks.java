// Two methods that take the same locks in different orders: together they may wait for each other for ever.
// fissure: object --core left,right --schedules controlled
public class CrossedLocks {
    private final Object first = new Object();
    private final Object second = new Object();
    private int value;

    public int left() {
        synchronized (first) {
            synchronized (second) {
                return ++value;
            }
        }
    }

    public int right() {
        synchronized (second) {
            synchronized (first) {
                return ++value;
            }
        }
    }
}
