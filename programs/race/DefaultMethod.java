// A default method of an interface changes a field of another object without a lock; a static one too.
// fissure: must-find racer data-race DefaultMethod$Cell.value
// fissure: must-find racer data-race DefaultMethod$Cell.resets
// fissure: must-find eraser data-race DefaultMethod$Cell.value
// fissure: must-find eraser data-race DefaultMethod$Cell.resets
public class DefaultMethod {
    static class Cell {
        int value;
        int resets;
    }

    interface Counter {
        Cell cell();

        default void bump() {
            cell().value++;
        }

        static void reset(Counter counter) {
            counter.cell().resets++;
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
        System.out.println("done");
    }
}
