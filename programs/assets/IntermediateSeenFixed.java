// The correct twin: one lock covers the computation, and the reader takes it too.
// fissure: nothing-predicted
public class IntermediateSeenFixed {
    static final class Total {
        private int sum = 42;

        synchronized void compute() {
            setSum(0);
            setSum(42);
        }

        synchronized int current() {
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
