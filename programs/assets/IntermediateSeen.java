// Pattern 3: a total is computed by two writes to the field; a read by another thread between them sees the intermediate value.
// fissure: must-confirm 3 IntermediateSeen$Total
public class IntermediateSeen {
    static final class Total {
        private int sum = 42;

        void compute() {
            setSum(0);
            setSum(42);
        }

        int current() {
            return getSum();
        }

        private synchronized int getSum() {
            return sum;
        }

        private synchronized void setSum(int value) {
            sum = value;
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
        Total total = new Total();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                total.compute();
                busy(8);
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                busy(8);
                total.current();
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
