// The correct twin: one lock covers both writes of open, and close takes it too.
// fissure: nothing-predicted
public class LostWriteFixed {
    static final class Door {
        private int state;

        synchronized void open() {
            setState(1);
            setState(2);
        }

        synchronized void close() {
            setState(0);
        }

        private synchronized void setState(int value) {
            state = value;
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
        Door door = new Door();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                door.open();
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                door.close();
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
