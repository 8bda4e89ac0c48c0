// Method references, lambdas and an anonymous class as the bodies of threads that share fields without a lock.
// fissure: must-find racer data-race MethodReference.byReference
// fissure: must-find racer data-race MethodReference.byLambda
// fissure: must-find eraser data-race MethodReference.byReference
// fissure: must-find eraser data-race MethodReference.byLambda
import java.util.function.IntConsumer;

public class MethodReference {
    private int byReference;
    private int byLambda;

    void add(int amount) {
        byReference += amount;
    }

    static void repeat(IntConsumer action) {
        for (int i = 0; i < 100; i++) {
            action.accept(i);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        MethodReference sums = new MethodReference();
        Thread first = new Thread(() -> {
            repeat(sums::add);
            repeat(i -> sums.byLambda += i);
        });
        Thread second = new Thread(new Runnable() {
            @Override
            public void run() {
                repeat(sums::add);
                repeat(i -> sums.byLambda -= i);
            }
        });
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
