// Each enum constant is changed by one thread only, and a value class is immutable: no location is both shared and written.
public class EnumUsesFixed {
    enum Level {
        LOW,
        HIGH;

        private int uses;
    }

    static final class Range {
        private final int low;
        private final int high;

        Range(int low, int high) {
            this.low = low;
            this.high = high;
        }

        int width() {
            return high - low;
        }
    }

    static void work(Level level, Range range) {
        for (int i = 0; i < range.width(); i++) {
            level.uses++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Level low = Level.LOW;
        Level high = Level.HIGH;
        Range range = new Range(10, 60);
        Thread first = new Thread(() -> work(low, range));
        Thread second = new Thread(() -> work(high, range));
        first.start();
        second.start();
        first.join();
        second.join();
        if (low.uses != 50 || high.uses != 50) {
            throw new AssertionError(low.uses);
        }
        System.out.println("done");
    }
}
