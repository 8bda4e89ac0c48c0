package java.lang;

/**
 * Handles exceptions of Fissure's own code. The agent adds an exception handler to every hook method that instrumented code calls, and
 * that handler calls this class: it disables the hooks, reports the exception to the agent, and lets the program continue.
 */
final class FissureFailure {
    private static final int MOST_FRAMES = 16;

    private static boolean isReported;

    private FissureFailure() {}

    /** Reports to the agent that Fissure cannot continue. */
    private static native void report(String description);

    /** A hook has thrown. */
    static void caught(Throwable thrown) {
        if (isOfProgram(thrown)) {
            FissureFailure.<RuntimeException>pass(thrown);
        }
        FissureHook.on = false;
        FissureScheduled.on = false;
        if (isReported) {
            return;
        }
        isReported = true;
        try {
            report(describe(thrown));
        } catch (Throwable again) {
            // The report itself failed: the agent notices that the hooks make no more calls.
        }
    }

    /**
     * Whether the program, not Fissure, caused an exception: a stack overflow in a hook would have happened a few calls later without
     * Fissure, and {@code ThreadDeath} comes from {@code Thread.stop}. The error that unwinds a thread passes too.
     */
    private static boolean isOfProgram(Throwable thrown) {
        return thrown instanceof StackOverflowError || thrown instanceof FissureUnwind || FissureThrown.isStop(thrown);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void pass(Throwable thrown) throws T {
        throw (T) thrown;
    }

    private static String describe(Throwable thrown) {
        StringBuilder text = new StringBuilder(thrown.getClass().getName());
        if (thrown.getMessage() != null) {
            text.append(": ").append(thrown.getMessage());
        }
        StackTraceElement[] frames = thrown.getStackTrace();
        for (int i = 0; i < frames.length && i < MOST_FRAMES; i++) {
            text.append(i == 0 ? " at " : ", ").append(frames[i].toString());
        }
        return text.toString();
    }
}
