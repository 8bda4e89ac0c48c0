// A synchronized method behind a method reference, and a lambda with a synchronized block.
import java.util.function.IntConsumer;

public class MethodReferenceFixed {
    private int byReference;
    private int byLambda;

    synchronized void add(int amount) {
        byReference += amount;
    }

    static void repeat(IntConsumer action) {
        for (int i = 0; i < 100; i++) {
            action.accept(i);
        }
    }

    void work() {
        repeat(this::add);
        repeat(i -> {
            synchronized (this) {
                byLambda += i;
            }
        });
    }

    public static void main(String[] args) throws InterruptedException {
        MethodReferenceFixed sums = new MethodReferenceFixed();
        Thread first = new Thread(sums::work);
        Thread second = new Thread(new Runnable() {
            @Override
            public void run() {
                sums.work();
            }
        });
        first.start();
        second.start();
        first.join();
        second.join();
        if (sums.byReference != 9900 || sums.byLambda != 9900) {
            throw new AssertionError(sums.byReference);
        }
        System.out.println("done");
    }
}
