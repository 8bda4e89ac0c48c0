// Two virtual threads increment a counter under a lock.
// fissure: release 21
public class VirtualCounterFixed {
    private static int count;

    static synchronized void increment() {
        count++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = Thread.ofVirtual().name("first").start(VirtualCounterFixed::increment);
        Thread second = Thread.startVirtualThread(VirtualCounterFixed::increment);
        first.join();
        second.join();
        if (count != 2) {
            throw new IllegalStateException("lost: " + count);
        }
    }
}
