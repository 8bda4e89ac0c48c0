// The correct twin: one volatile write publishes the value, and readers without the lock read only that field.
public class DoubleCheckedPairFixed {
    private volatile String value;

    String get() {
        if (value == null) {
            synchronized (this) {
                if (value == null) {
                    value = "made";
                }
            }
        }
        return value;
    }

    public static void main(String[] args) throws InterruptedException {
        DoubleCheckedPairFixed lazy = new DoubleCheckedPairFixed();
        Thread one = new Thread(lazy::get);
        Thread other = new Thread(lazy::get);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
