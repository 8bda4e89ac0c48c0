// Two threads fill a row of two cells, each cell under the lock. With array elements in their atomic sets: the row is left with one cell
// of each thread (pattern 6). The reference to the array is only read, which matches no pattern.
// fissure: config contents = true
// fissure: must-confirm 6 TornRow$Row
public class TornRow {
    static final class Row {
        private int[] cells = new int[2];

        void fill(int with) {
            set(0, with);
            set(1, with);
        }

        private synchronized void set(int cell, int value) {
            cells[cell] = value;
        }
    }

    // Unrelated work of the thread.
    static void busy(int times) {
        Object own = new Object();
        for (int i = 0; i < times; i++) {
            synchronized (own) {
                own.hashCode();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Row row = new Row();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                row.fill(1);
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                row.fill(2);
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
