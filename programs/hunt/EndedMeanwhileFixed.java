// The same with one lock for all of the increment: whoever comes second finds what the first has left.
// fissure: hunt --atomic EndedMeanwhileFixed.increment
public class EndedMeanwhileFixed {
    private int value;

    synchronized int get() {
        return value;
    }

    synchronized void set(int value) {
        this.value = value;
    }

    synchronized void increment() {
        int old = get();
        set(old + 1);
    }

    public static void main(String[] args) {
        EndedMeanwhileFixed counter = new EndedMeanwhileFixed();
        new Thread(() -> counter.set(10), "other").start();
        counter.increment();
        int value = counter.get();
        if (value != 1 && value != 10 && value != 11) {
            throw new IllegalStateException("lost: " + value);
        }
    }
}
