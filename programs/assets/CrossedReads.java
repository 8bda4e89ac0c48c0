// Pattern 10: one thread reads x and then y, the other writes y and then x. In the order x, y, y, x the reader sees the new y and
// the old x. The same accesses allow patterns 8, 9 and 11 as well, because neither the reader nor the writer is atomic.
// fissure: must-confirm 10 CrossedReads$Point
// fissure: may-confirm 8 CrossedReads$Point
// fissure: may-confirm 9 CrossedReads$Point
// fissure: may-confirm 11 CrossedReads$Point
public class CrossedReads {
    static final class Point {
        private int x;
        private int y;

        int sum() {
            return getX() + getY();
        }

        void move(int to) {
            setY(to);
            setX(to);
        }

        private synchronized int getX() {
            return x;
        }

        private synchronized void setX(int value) {
            x = value;
        }

        private synchronized int getY() {
            return y;
        }

        private synchronized void setY(int value) {
            y = value;
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
        Point point = new Point();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                point.sum();
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                point.move(3);
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
