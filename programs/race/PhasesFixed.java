// Two phases, each started and joined as a whole: the second may read and write the first one's fields without a lock.
// fissure: must-find-ordered racer PhasesFixed$Cell.value
public class PhasesFixed {
    static class Cell {
        private long value;
        private long echo;
    }

    static Thread produce(Cell cell) {
        return new Thread(() -> cell.value = 7);
    }

    static Thread consume(Cell cell) {
        return new Thread(() -> {
            cell.echo = cell.value;
            cell.value = 0;
        });
    }

    static void runAll(Thread... threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cell left = new Cell();
        Cell right = new Cell();
        runAll(produce(left), produce(right));
        runAll(consume(right), consume(left));
        if (left.echo != 7 || right.echo != 7) {
            throw new AssertionError(left.echo);
        }
        System.out.println("done");
    }
}
