// A method releases and takes the inner lock again while it holds the outer one; the other thread takes only the inner lock.
// fissure: must-find atomizer atomicity-violation NestedBlocks.widen:10
public class NestedBlocks {
    private final Object outer = new Object();
    private final Object inner = new Object();
    private int low;
    private int high;

    void widen() {
        synchronized (outer) {
            synchronized (inner) {
                low--;
            }
            synchronized (inner) {
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
        NestedBlocks range = new NestedBlocks();
        Thread one = new Thread(range::widen);
        Thread other = new Thread(range::swap);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
