// Pattern 9: a range is moved under one lock, but the reader reads its two ends one by one and may see one old and one new value.
// fissure: must-be-bug 9 HalfOldPair$Range
public class HalfOldPair {
    static final class Range {
        private int low = 10;
        private int high = 11;

        synchronized void move(int to) {
            setLow(to);
            setHigh(to + 1);
        }

        void check() {
            if (getLow() > getHigh()) {
                throw new IllegalStateException("an empty range");
            }
        }

        private synchronized int getLow() {
            return low;
        }

        private synchronized void setLow(int value) {
            low = value;
        }

        private synchronized int getHigh() {
            return high;
        }

        private synchronized void setHigh(int value) {
            high = value;
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
        Range range = new Range();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                range.check();
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                range.move(1);
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
