// A virtual thread stores its progress after it was told to stop by an interrupt. Its owner does not wait for that, and may
// read the progress too early.
// fissure: release 21
// fissure: must-be-bug failure VirtualInterrupt.main
import java.util.concurrent.CountDownLatch;

public class VirtualInterrupt {
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
        for (int i = 0; i < 3 && progress == null; i++) {
            Thread.yield();
        }
        if (progress == null) {
            throw new IllegalStateException("no progress");
        }
        worker.join();
    }
}
