// A counter whose increment, a core method, is not atomic and loses updates: that is the finding.
// fissure: non-atomic increment
public class LostCounter {
    private volatile int value;

    public int increment() {
        int next = value + 1;
        value = next;
        return next;
    }

    public int get() {
        return value;
    }
}
