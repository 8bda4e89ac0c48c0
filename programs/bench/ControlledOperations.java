// Two threads that take and give back a lock of their own again and again: at every acquire the scheduler chooses between
// them. How many each is the argument.
public class ControlledOperations {
    static class Cell {
        private long value;

        synchronized void step() {
            value++;
        }

        void steps(long count) {
            for (long i = 0; i < count; i++) {
                step();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long count = Long.parseLong(args[0]);
        Cell first = new Cell();
        Cell second = new Cell();
        Thread other = new Thread(() -> second.steps(count));
        other.start();
        first.steps(count);
        other.join();
        System.out.println(first.value + second.value);
    }
}
