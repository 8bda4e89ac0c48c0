package java.lang;

/**
 * Exceptions of Fissure's own code. The agent adds a handler to every method of the hook classes that rewritten code calls, and it
 * ends here: the hooks are switched off, the agent is told, and the program goes on.
 */
final class FissureFailure {
    private static final int MOST_FRAMES = 16;

    private static boolean isTold;

    private FissureFailure() {}

    /** Tells the agent that Fissure cannot go on. */
    private static native void report(String description);

    /** A hook has thrown. */
    static void caught(Throwable thrown) {
        if (isOfTheProgram(thrown)) {
            FissureFailure.<RuntimeException>pass(thrown);
        }
        FissureHook.on = false;
        FissureControl.on = false;
        FissureExplore.on = false;
        if (isTold) {
            return;
        }
        isTold = true;
        try {
            report(describe(thrown));
        } catch (Throwable again) {
            // Not even that can be said: the agent notices that the hooks are silent.
        }
    }

    /**
     * The stack is the program's: where it is full in a hook, it would be full a few calls later. And another thread may have told
     * this one to stop.
     */
    private static boolean isOfTheProgram(Throwable thrown) {
        return thrown instanceof StackOverflowError || FissureThrown.isStop(thrown);
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
