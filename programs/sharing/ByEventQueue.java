// The event thread, which the JDK starts and not the program, runs the code that shares the object.
// fissure: detect --order start-join
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
        // The event thread ends some time after the last event.
        System.exit(0);
    }
}
