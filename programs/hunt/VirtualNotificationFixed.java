// A virtual thread checks a flag inside of the monitor in which it waits, so that no notification gets lost.
// fissure: release 21
public class VirtualNotificationFixed {
    private static final Object MONITOR = new Object();
    private static volatile boolean isReady;

    static void await() {
        try {
            synchronized (MONITOR) {
                while (!isReady) {
                    MONITOR.wait();
                }
            }
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    static void announce() {
        synchronized (MONITOR) {
            isReady = true;
            MONITOR.notifyAll();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread waiting = Thread.ofVirtual().name("waiting").start(VirtualNotificationFixed::await);
        Thread announcing = Thread.ofVirtual().name("announcing").start(VirtualNotificationFixed::announce);
        waiting.join();
        announcing.join();
    }
}
