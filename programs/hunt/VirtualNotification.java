// A virtual thread checks a flag before it enters the monitor in which it waits. A notification between the two gets
// lost.
// fissure: release 21
// fissure: must-be-bug deadlock VirtualNotification.await*
public class VirtualNotification {
    private static final Object MONITOR = new Object();
    private static volatile boolean isReady;

    static void await() {
        try {
            if (!isReady) {
                synchronized (MONITOR) {
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
        Thread waiting = Thread.ofVirtual().name("waiting").start(VirtualNotification::await);
        Thread announcing = Thread.ofVirtual().name("announcing").start(VirtualNotification::announce);
        waiting.join();
        announcing.join();
    }
}
