// The interface's methods agree on the cell as the lock of its fields.
public class DefaultMethodFixed {
    static class Cell {
        int value;
        int resets;
    }

    interface Counter {
        Cell cell();

        default void bump() {
            Cell cell = cell();
            synchronized (cell) {
                cell.value++;
            }
        }

        static void reset(Counter counter) {
            synchronized (counter.cell()) {
                counter.cell().resets++;
            }
        }
    }

    static void work(Counter counter) {
        for (int i = 0; i < 100; i++) {
            counter.bump();
            Counter.reset(counter);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        Counter counter = () -> cell;
        Thread first = new Thread(() -> work(counter));
        Thread second = new Thread(() -> work(counter));
        first.start();
        second.start();
        first.join();
        second.join();
        if (cell.value != 200 || cell.resets != 200) {
            throw new AssertionError(cell.value);
        }
        System.out.println("done");
    }
}
