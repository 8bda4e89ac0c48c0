// A virtual thread stores its progress after it was told to stop by an interrupt, and its owner waits for that.
// fissure: release 21
import java.util.concurrent.CountDownLatch;

public class VirtualInterruptFixed {
    private static volatile String progress;

    static void work(CountDownLatch begun) {
        try {
            begun.countDown();
            Thread.sleep(10_000);
        } catch (InterruptedException stopped) {
            progress = "half";
        }
    }

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        Thread worker = Thread.ofVirtual().name("worker").start(() -> work(begun));
        begun.await();
        worker.interrupt();
        worker.join();
        if (progress == null) {
            throw new IllegalStateException("no progress");
        }
        worker.join();
    }
}
