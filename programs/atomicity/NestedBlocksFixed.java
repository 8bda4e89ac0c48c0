// The correct twin: the inner lock is taken once and may be released before the outer one.
public class NestedBlocksFixed {
    private final Object outer = new Object();
    private final Object inner = new Object();
    private int low;
    private int high;

    void widen() {
        synchronized (outer) {
            synchronized (inner) {
                low--;
                high++;
            }
        }
    }

    void swap() {
        synchronized (inner) {
            int old = low;
            low = high;
            high = old;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        NestedBlocksFixed range = new NestedBlocksFixed();
        Thread one = new Thread(range::widen);
        Thread other = new Thread(range::swap);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
