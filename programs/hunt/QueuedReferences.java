// Correct: two threads wait in a ReferenceQueue, whose monitor is left to the JVM, until their time-outs expire.
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;

public final class QueuedReferences {
    private final ReferenceQueue<Object> queue = new ReferenceQueue<>();
    private int waits;

    private void await(long millis) {
        try {
            Reference<?> reference = queue.remove(millis);
            synchronized (this) {
                waits += reference == null ? 1 : 0;
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        QueuedReferences references = new QueuedReferences();
        Thread other = new Thread(() -> references.await(30L));
        other.start();
        references.await(20L);
        other.join();
        if (references.waits != 2) {
            throw new AssertionError(references.waits);
        }
        System.out.println("done");
    }
}
