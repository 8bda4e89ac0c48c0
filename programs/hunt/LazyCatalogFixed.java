// The correct variant of LazyCatalog: every read holds the lock.
// fissure: runs 40
public class LazyCatalogFixed {
    private static LazyCatalogFixed catalog;
    private final int entries;

    private LazyCatalogFixed(int entries) {
        this.entries = entries;
    }

    static synchronized LazyCatalogFixed get() {
        if (catalog == null) {
            catalog = new LazyCatalogFixed(31);
        }
        return catalog;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] readers = new Thread[2];
        for (int index = 0; index < readers.length; index++) {
            readers[index] = new Thread(() -> {
                if (get().entries != 31) {
                    throw new IllegalStateException("half made");
                }
            });
        }
        for (Thread reader : readers) {
            reader.start();
        }
        for (Thread reader : readers) {
            reader.join();
        }
    }
}
