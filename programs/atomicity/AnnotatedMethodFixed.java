// The correct twin: the method takes the lock once.
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.locks.ReentrantLock;

public class AnnotatedMethodFixed {
    @Retention(RetentionPolicy.CLASS)
    @Target({ElementType.METHOD, ElementType.TYPE})
    @interface Atomic {}

    private final ReentrantLock lock = new ReentrantLock();
    private int width = 1;
    private int height = 1;

    @Atomic
    void scale(int factor) {
        lock.lock();
        try {
            width *= factor;
            height *= factor;
        } finally {
            lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        AnnotatedMethodFixed shape = new AnnotatedMethodFixed();
        Thread one = new Thread(() -> shape.scale(2));
        Thread other = new Thread(() -> shape.scale(3));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
