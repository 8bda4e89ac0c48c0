// Pattern 11: one thread writes x and then y, the other reads y and then x. In the order x, y, y, x the reader sees the old y and
// the new x. The same accesses allow patterns 8, 9 and 10 as well.
// fissure: must-confirm 11 CrossedWriteRead$Point
// fissure: may-confirm 8 CrossedWriteRead$Point
// fissure: may-confirm 9 CrossedWriteRead$Point
// fissure: may-confirm 10 CrossedWriteRead$Point
public class CrossedWriteRead {
    static final class Point {
        private int x;
        private int y;

        void move(int to) {
            setX(to);
            setY(to);
        }

        int difference() {
            return getY() - getX();
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
                point.move(3);
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                point.difference();
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
