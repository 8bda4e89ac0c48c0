// A thread that the JDK makes handles events: what runs there is nothing that the program starts.
// fissure: must-find racer data-race ByEventQueue$Box.value
// fissure: java -Djava.awt.headless=true
import java.awt.EventQueue;
import java.util.concurrent.CountDownLatch;

public class ByEventQueue {
    static class Box {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        CountDownLatch handled = new CountDownLatch(1);
        EventQueue.invokeLater(() -> {
            box.value++;
            handled.countDown();
        });
        box.value++;
        handled.await();
        System.out.println("done");
        // The thread that handles events ends some time after the last one.
        System.exit(0);
    }
}
