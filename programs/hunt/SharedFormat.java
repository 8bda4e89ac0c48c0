// Two threads format dates with one SimpleDateFormat, a thread-unsafe object that keeps the current date in a field.
// fissure: must-be-bug failure SharedFormat.check
// fissure: program-exit 0
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.TimeZone;

public class SharedFormat {
    private static final SimpleDateFormat FORMAT = new SimpleDateFormat("yyyy-MM-dd");

    static void check(long milliseconds, String expected) {
        String day = FORMAT.format(new Date(milliseconds));
        if (!day.equals(expected)) {
            throw new IllegalStateException(day + " instead of " + expected);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        FORMAT.setTimeZone(TimeZone.getTimeZone("UTC"));
        Thread first = new Thread(() -> check(0, "1970-01-01"));
        Thread second = new Thread(() -> check(86400000L * 365, "1971-01-01"));
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
