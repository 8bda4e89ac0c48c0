// The correct twin of SharedFormat: each thread has its own SimpleDateFormat.
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.TimeZone;

public class SharedFormatFixed {
    private static final ThreadLocal<SimpleDateFormat> FORMAT = ThreadLocal.withInitial(() -> {
        SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd");
        format.setTimeZone(TimeZone.getTimeZone("UTC"));
        return format;
    });

    static void check(long milliseconds, String expected) {
        String day = FORMAT.get().format(new Date(milliseconds));
        if (!day.equals(expected)) {
            throw new IllegalStateException(day + " instead of " + expected);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> check(0, "1970-01-01"));
        Thread second = new Thread(() -> check(86400000L * 365, "1971-01-01"));
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
