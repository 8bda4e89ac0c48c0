// A class is initialised by the thread that comes first, and class initialisation orders its writes before every use by another
// thread: constants, tables, enums and the tables that a switch over an enum needs.
public class StaticTableFixed {
    static class Squares {
        static final int[] table = new int[10];

        static {
            for (int i = 0; i < table.length; i++) {
                table[i] = i * i;
            }
        }
    }

    enum Step {
        ONE(1),
        TWO(2);

        private final int width;

        Step(int width) {
            this.width = width;
        }
    }

    static int weight(Step step) {
        switch (step) {
            case ONE:
                return 1;
            case TWO:
                return 2;
            default:
                throw new AssertionError(step);
        }
    }

    static void work() {
        for (int i = 0; i < 10; i++) {
            for (Step step : Step.values()) {
                if (Squares.table[i] != i * i || weight(step) != step.width) {
                    throw new AssertionError(i);
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(StaticTableFixed::work);
        Thread second = new Thread(StaticTableFixed::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
