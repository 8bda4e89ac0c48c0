// A bean of the JDK, whose allocation is not in the program, stores an object and passes it to the listener in a thread of the JVM.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByNotification$Box.value
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import javax.management.NotificationEmitter;

public class ByNotification {
    static class Box {
        int value;
    }

    static volatile Box kept;

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        CountDownLatch told = new CountDownLatch(1);
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) bean).addNotificationListener((notification, given) -> {
                kept = (Box) given;
                told.countDown();
            }, null, box);
        }
        System.gc();
        told.await();
        Thread thread = new Thread(() -> kept.value++);
        thread.start();
        box.value++;
        thread.join();
        System.out.println("done");
    }
}
