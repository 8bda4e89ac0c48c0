// The correct twin: the name cannot be cleared between the check and the use.
// fissure: nothing-predicted
public class UnrepeatableReadFixed {
    static final class Label {
        private String text = "name";

        synchronized int length() {
            return get() == null ? 0 : get().length();
        }

        synchronized void clear() {
            set(null);
        }

        private synchronized String get() {
            return text;
        }

        private synchronized void set(String value) {
            text = value;
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
        Label label = new Label();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                label.length();
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                label.clear();
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
