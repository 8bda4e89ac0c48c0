// Pattern 6: two threads move one point, each coordinate under the lock. The point may end with one coordinate of each thread.
// fissure: must-confirm 6 TornPair$Point
public class TornPair {
    static final class Point {
        private int x;
        private int y;

        void move(int to) {
            setX(to);
            setY(to);
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
                point.move(2);
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
