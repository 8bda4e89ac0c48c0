// The object is captured by a method reference inside a lambda that is passed on.
// fissure: must-find racer data-race ByLambda$Box.value
import java.util.function.Consumer;
import java.util.function.Supplier;

public class ByLambda {
    static class Box {
        int value;

        void bump() {
            value++;
        }
    }

    static Thread made(Supplier<Runnable> tasks) {
        Consumer<Thread> begin = Thread::start;
        Thread thread = new Thread(tasks.get());
        begin.accept(thread);
        return thread;
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Supplier<Runnable> tasks = () -> box::bump;
        Thread thread = made(tasks);
        box.bump();
        thread.join();
        System.out.println("done");
    }
}
