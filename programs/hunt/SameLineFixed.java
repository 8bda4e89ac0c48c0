// SameLine with a lock around the update that matters.
public class SameLineFixed {
    private int calls;
    private int total;

    void add(int amount) {
        calls++;
        synchronized (this) {
            total += amount;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        SameLineFixed sum = new SameLineFixed();
        Runnable work = () -> sum.add(5);
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (sum.total != 10) {
            throw new IllegalStateException("total " + sum.total);
        }
    }
}
