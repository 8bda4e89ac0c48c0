// Pattern 5: one thread opens a door by two writes; the write of a thread that closes it between the two is overwritten.
// fissure: must-confirm 5 LostWrite$Door
public class LostWrite {
    static final class Door {
        private int state;

        void open() {
            setState(1);
            setState(2);
        }

        void close() {
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
