// Another thread takes a reference from its ReferenceQueue, and a Cleaner runs its action in a thread of its own.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByReferenceQueue$Box.value
// fissure: must-find racer data-race ByReferenceQueue$Cleaned.value
import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.CountDownLatch;

public class ByReferenceQueue {
    static class Box {
        int value;
    }

    static class Cleaned {
        int value;
    }

    static class Ending extends PhantomReference<Object> {
        final Box box;

        Ending(Object ending, ReferenceQueue<Object> queue, Box box) {
            super(ending, queue);
            this.box = box;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Cleaned cleaned = new Cleaned();
        CountDownLatch isClean = new CountDownLatch(1);
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        Ending ending = new Ending(new Object(), queue, box);
        Cleaner.create().register(new Object(), () -> {
            cleaned.value++;
            isClean.countDown();
        });
        Thread thread = new Thread(() -> {
            try {
                ((Ending) queue.remove()).box.value++;
            } catch (InterruptedException exception) {
                throw new IllegalStateException(exception);
            }
        });
        thread.start();
        ending.box.value++;
        cleaned.value++;
        while (thread.isAlive() || isClean.getCount() > 0) {
            System.gc();
            thread.join(5);
            cleaned.value++;
        }
        System.out.println("done");
    }
}
