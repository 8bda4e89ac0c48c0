// Two virtual threads increment a counter without a lock, so that an increment may get lost.
// fissure: release 21
// fissure: must-be-bug failure VirtualCounter.main
public class VirtualCounter {
    private static int count;

    static void increment() {
        count++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = Thread.ofVirtual().name("first").start(VirtualCounter::increment);
        Thread second = Thread.startVirtualThread(VirtualCounter::increment);
        first.join();
        second.join();
        if (count != 2) {
            throw new IllegalStateException("lost: " + count);
        }
    }
}
