// A limiter checks how many calls were made and counts the next one, without a lock. Each thread logs before and after it, under a lock that
// other threads acquire in between: a bystander that goes along with every failure.
// fissure: must-be-bug failure LoggedLimiter.main
// fissure: cause used LoggedLimiter.acquire:17 LoggedLimiter.acquire:18
// fissure: not-cause .log:
// fissure: repair
public class LoggedLimiter {
    private int used;
    private int granted;
    private final StringBuilder text = new StringBuilder();

    private synchronized void log(String line) {
        text.append(line);
    }

    boolean acquire() {
        if (used < 1) {
            used = used + 1;
            return true;
        }
        return false;
    }

    private synchronized void grant() {
        granted++;
    }

    public static void main(String[] args) throws InterruptedException {
        LoggedLimiter limiter = new LoggedLimiter();
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
