// Pattern 7: one thread writes x and then y, the other y and then x. In the order x, y, y, x the point keeps one coordinate of each
// thread. The same accesses allow both writes of one thread between those of the other, which is pattern 6.
// fissure: must-confirm 7 CrossedWrites$Point
// fissure: may-confirm 6 CrossedWrites$Point
public class CrossedWrites {
    static final class Point {
        private int x;
        private int y;

        void move(int to) {
            setX(to);
            setY(to);
        }

        void back() {
            setY(0);
            setX(0);
        }

        private synchronized void setX(int value) {
            x = value;
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
                point.move(1);
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                point.back();
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
