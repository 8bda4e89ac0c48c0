// Pattern 2: a thread reads a name twice, first to check it for null and then for its length. A clear between the two reads makes the
// second read return null, and the thread fails.
// fissure: must-be-bug 2 UnrepeatableRead$Label
public class UnrepeatableRead {
    static final class Label {
        private String text = "name";

        int length() {
            return get() == null ? 0 : get().length();
        }

        void clear() {
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
