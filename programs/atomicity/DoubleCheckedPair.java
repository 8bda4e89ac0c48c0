// Double-checked locking with two volatile fields: a thread that reads without the lock can see the flag before the value.
// fissure: must-find atomizer atomicity-violation DoubleCheckedPair.get:9
public class DoubleCheckedPair {
    private volatile boolean isReady;
    private volatile String value;

    String get() {
        if (!isReady) {
            synchronized (this) {
                if (!isReady) {
                    isReady = true;
                    value = "made";
                }
            }
        }
        return value;
    }

    public static void main(String[] args) throws InterruptedException {
        DoubleCheckedPair lazy = new DoubleCheckedPair();
        Thread one = new Thread(lazy::get);
        Thread other = new Thread(lazy::get);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
