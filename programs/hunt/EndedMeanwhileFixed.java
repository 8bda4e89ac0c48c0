// The correct twin of EndedMeanwhile: the whole increment is synchronized, so no write is lost.
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
