// A periodic task counts the entries of a buffer and empties it, in one block of the lock that the buffer uses itself.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public class ScheduledFlushFixed {
    private static final List<String> BUFFER = Collections.synchronizedList(new ArrayList<>());
    private static int written;

    static void flush() {
        synchronized (BUFFER) {
            written += BUFFER.size();
            BUFFER.clear();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
        executor.scheduleAtFixedRate(ScheduledFlushFixed::flush, 0, 1, TimeUnit.SECONDS);
        BUFFER.add("first");
        BUFFER.add("second");
        executor.shutdown();
        executor.awaitTermination(1, TimeUnit.MINUTES);
        flush();
        if (written != 2) {
            throw new IllegalStateException("written: " + written);
        }
    }
}
