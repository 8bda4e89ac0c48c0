// Two methods take the same locks in different orders: two threads that call them can deadlock.
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
