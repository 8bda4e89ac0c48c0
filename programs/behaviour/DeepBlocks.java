// Synchronized blocks nested hundreds deep, each after a block that is not atomic: the log of a thread's operations is full
// while all blocks are active.
public final class DeepBlocks {
    private static final Object SHARED = new Object();
    private static int count;

    private final DeepBlocks next;

    private DeepBlocks(DeepBlocks next) {
        this.next = next;
    }

    private synchronized void twice() {
        once();
        once();
    }

    private static void once() {
        synchronized (SHARED) {
            count++;
        }
    }

    private synchronized int walk() {
        twice();
        once();
        int below = next == null ? 0 : next.walk();
        once();
        return below + 1;
    }

    public static void main(String[] arguments) throws InterruptedException {
        DeepBlocks chain = null;
        for (int i = 0; i < 600; i++) {
            chain = new DeepBlocks(chain);
        }
        DeepBlocks first = chain;
        Thread other = new Thread(() -> first.walk());
        other.start();
        int depth = first.walk();
        other.join();
        System.out.println(depth + " " + count);
    }
}
