// A correct counter with methods that cannot be tested: each must be reported with a reason, and the others are tested.
// fissure: object --core increment,get
// fissure: atomic doubled apply array
// fissure: not-tested await spin random waitFor other fail exit
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;

public class Troubled {
    private int value;

    public synchronized int increment() {
        System.out.println("noise");
        return ++value;
    }

    public synchronized int get() {
        return value;
    }

    public synchronized int doubled() {
        return 2 * value;
    }

    public synchronized void await() throws InterruptedException {
        wait();
    }

    public void spin() {
        while (true) {
            Thread.onSpinWait();
        }
    }

    public int random() {
        return ThreadLocalRandom.current().nextInt();
    }

    public void waitFor(long time, TimeUnit unit) throws InterruptedException {
        unit.sleep(time);
    }

    public synchronized int apply(IntUnaryOperator operator) {
        return value = operator.applyAsInt(value);
    }

    public synchronized void array(int[] values) {
        values[0] = value;
    }

    public synchronized void other(Troubled other) {
        value += other.get();
    }

    public void fail() {
        throw new UnsupportedOperationException("never");
    }

    public void exit() {
        System.exit(3);
    }
}
