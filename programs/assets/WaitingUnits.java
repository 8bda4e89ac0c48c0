// Correct: both methods wait in the monitor for the other thread, so a unit of work that waits is not expected to be atomic. The
// futures of the pool order the main thread's last read after the tasks.
// fissure: correct
// fissure: nothing-predicted
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

public class WaitingUnits {
    static final class Mailbox {
        private String letter;
        private int taken;

        synchronized void put(String text) throws InterruptedException {
            while (letter != null) {
                wait();
            }
            letter = text;
            notifyAll();
        }

        synchronized String take() throws InterruptedException {
            while (letter == null) {
                wait();
            }
            String text = letter;
            letter = null;
            taken++;
            notifyAll();
            return text;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Mailbox mailbox = new Mailbox();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> writer = pool.submit(() -> {
            for (int i = 0; i < 3; i++) {
                mailbox.put("letter " + i);
            }
            return null;
        });
        Future<Integer> reader = pool.submit(() -> {
            int length = 0;
            for (int i = 0; i < 3; i++) {
                length += mailbox.take().length();
            }
            return length;
        });
        writer.get();
        if (reader.get() != 24 || mailbox.taken != 3) {
            throw new IllegalStateException("letters are missing");
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("done");
    }
}
