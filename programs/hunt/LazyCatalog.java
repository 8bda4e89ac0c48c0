// Double-checked locking without volatile: a thread reads the field without the lock under which another writes it. Under a scheduler that
// keeps memory consistent nothing fails, but the accesses race, and the first check may be outdated.
// fissure: must-confirm data-race LazyCatalog.catalog
// fissure: must-confirm atomic-set-violation LazyCatalog
// fissure: runs 40
public class LazyCatalog {
    private static LazyCatalog catalog;
    private final int entries;

    private LazyCatalog(int entries) {
        this.entries = entries;
    }

    static LazyCatalog get() {
        if (catalog == null) {
            synchronized (LazyCatalog.class) {
                if (catalog == null) {
                    catalog = new LazyCatalog(31);
                }
            }
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
