// A periodic task counts the entries of a buffer and then empties it. An entry that is added in between is lost.
// fissure: must-be-bug failure ScheduledFlush.main
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public class ScheduledFlush {
    private static final List<String> BUFFER = Collections.synchronizedList(new ArrayList<>());
    private static int written;

    static void flush() {
        written += BUFFER.size();
        BUFFER.clear();
    }

    public static void main(String[] args) throws InterruptedException {
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
        executor.scheduleAtFixedRate(ScheduledFlush::flush, 0, 1, TimeUnit.SECONDS);
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
