// A bean of the JDK, which nobody saw being made, keeps the listener, and a thread of the JVM calls it.
// fissure: must-find racer data-race ByNotification$Box.value
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import javax.management.NotificationEmitter;

public class ByNotification {
    static class Box {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        CountDownLatch told = new CountDownLatch(1);
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) bean).addNotificationListener((notification, given) -> {
                ((Box) given).value++;
                told.countDown();
            }, null, box);
        }
        System.gc();
        box.value++;
        told.await();
        System.out.println("done");
    }
}
