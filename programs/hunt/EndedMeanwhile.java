// The remote thread writes and ends between the two local accesses, so that the preempted thread is the only one left.
// fissure: must-be-bug atomicity-violation EndedMeanwhile.increment
// fissure: hunt --atomic EndedMeanwhile.increment
public class EndedMeanwhile {
    private int value;

    synchronized int get() {
        return value;
    }

    synchronized void set(int value) {
        this.value = value;
    }

    void increment() {
        int old = get();
        set(old + 1);
    }

    public static void main(String[] args) {
        EndedMeanwhile counter = new EndedMeanwhile();
        Thread other = new Thread(() -> counter.set(10), "other");
        other.start();
        counter.increment();
        boolean isFirst = other.isAlive();
        if (!isFirst && counter.get() == 1) {
            throw new IllegalStateException("ten is lost");
        }
    }
}
