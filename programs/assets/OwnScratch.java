// Pattern 9 in one shared object. Each thread also works on pairs that no other thread can reach; --static does not instrument those.
// fissure: must-be-bug 9 OwnScratch$Range
public class OwnScratch {
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

    // Each object is used by one thread only.
    static final class Scratch {
        private int low;
        private int high;

        void step() {
            synchronized (this) {
                low++;
            }
            synchronized (this) {
                high = low + 1;
            }
        }
    }

    static void busy(int times) {
        Scratch own = new Scratch();
        for (int i = 0; i < times; i++) {
            own.step();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Range range = new Range();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                range.check();
                busy(4);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(4);
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
