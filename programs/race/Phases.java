// The threads of the second phase start without waiting for those of the first.
// fissure: must-find racer data-race Phases$Cell.value
// fissure: may-find eraser data-race Phases$Cell.value
public class Phases {
    static class Cell {
        private long value;
        private long echo;
    }

    static Thread produce(Cell cell) {
        return new Thread(() -> cell.value = 7);
    }

    static Thread consume(Cell cell) {
        return new Thread(() -> cell.echo = cell.value);
    }

    public static void main(String[] args) throws InterruptedException {
        Cell left = new Cell();
        Cell right = new Cell();
        Thread[] threads = {produce(left), produce(right), consume(left), consume(right)};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }
}
