// LoggedLimiter with a lock from the check to the update.
public class LoggedLimiterFixed {
    private int used;
    private int granted;
    private final StringBuilder text = new StringBuilder();

    private synchronized void log(String line) {
        text.append(line);
    }

    boolean acquire() {
        synchronized (text) {
            if (used < 1) {
                used = used + 1;
                return true;
            }
        }
        return false;
    }

    private synchronized void grant() {
        granted++;
    }

    public static void main(String[] args) throws InterruptedException {
        LoggedLimiterFixed limiter = new LoggedLimiterFixed();
        Runnable work = () -> {
            limiter.log("begins");
            boolean isGranted = limiter.acquire();
            limiter.log("ends");
            if (isGranted) {
                limiter.grant();
            }
        };
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (limiter.granted != 1) {
            throw new IllegalStateException("granted " + limiter.granted);
        }
    }
}
