// A shutdown hook accesses an object that a daemon thread has also accessed.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByShutdownHook$Box.value
import java.util.concurrent.CountDownLatch;

public class ByShutdownHook {
    static class Box {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        CountDownLatch touched = new CountDownLatch(1);
        Thread daemon = new Thread(() -> {
            box.value++;
            touched.countDown();
        });
        daemon.setDaemon(true);
        daemon.start();
        touched.await();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> box.value++));
        System.out.println("done");
    }
}
