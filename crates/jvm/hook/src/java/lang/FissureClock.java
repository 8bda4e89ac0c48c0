package java.lang;

/** The clock and the random numbers of programs under control: the same in every run with the same schedule. */
public abstract class FissureClock extends FissureScheduled {
    /** The clock in nanoseconds before the agent is ready; it advances by a microsecond when the thread that starts the JVM reads it. */
    private static long early = 1_000_000_000L;
    private static Thread first;
    /** The time of day, in milliseconds, at which the clock is 0: the beginning of the year 2024. */
    private static final long MIDNIGHT = 1_704_067_200_000L;

    FissureClock() {}

    public static long nanoTime() {
        try {
            return on ? FissureConductor.now(self()) : early();
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return early();
        }
    }

    public static long currentTimeMillis() {
        return MIDNIGHT + nanoTime() / 1_000_000L;
    }

    /** Replaces {@code jdk.internal.misc.VM.getNanoTimeAdjustment}: the time of day in nanoseconds since the given second. */
    public static long adjustment(long second) {
        long nanos = nanoTime();
        return (MIDNIGHT / 1000L - second) * 1_000_000_000L + nanos;
    }

    private static long early() {
        Thread thread = Thread.currentThread();
        if (first == null) {
            first = thread;
        }
        return thread == first ? early += 1000L : early;
    }

    // Random numbers.

    public static void randomBytes(Object source, byte[] bytes) {
        FissureChance.fill(bytes);
    }

    public static byte[] randomSeed(Object source, int length) {
        byte[] bytes = new byte[length];
        FissureChance.fill(bytes);
        return bytes;
    }

    public static void seedBytes(byte[] bytes) {
        FissureChance.fill(bytes);
    }

    public static byte[] entropy() {
        return randomSeed(null, 20);
    }
}
