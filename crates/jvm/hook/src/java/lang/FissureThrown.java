package java.lang;

/** What is told of exceptions that end a thread or make a test fail. */
final class FissureThrown {
    /** So many exceptions may carry each other. */
    private static final int MOST_CAUSES = 32;
    private static final int MOST_FRAMES = 64;

    private FissureThrown() {}

    /** Whether another thread has told this one to stop. Newer JDKs do not have the class any more. */
    static boolean isStop(Throwable thrown) {
        return "java.lang.ThreadDeath".equals(thrown.getClass().getName());
    }

    /** Whether a test was only found not to apply. */
    static boolean isAssumption(Object thrown) {
        return thrown.getClass().getName().contains("AssumptionViolated");
    }

    /** The stack of an exception as lines of class, method, file and line number. */
    static void addFrames(StringBuilder stack, Throwable exception) {
        StackTraceElement[] frames = exception.getStackTrace();
        for (int i = 0; i < frames.length && i < MOST_FRAMES; i++) {
            StackTraceElement frame = frames[i];
            stack.append(frame.getClassName()).append('\t').append(frame.getMethodName()).append('\t');
            stack.append(frame.getFileName()).append('\t').append(frame.getLineNumber()).append('\n');
        }
    }

    /** The exception that others only carry from one thread, or one layer, to another. */
    static Throwable cause(Throwable thrown) {
        Throwable exception = thrown;
        try {
            for (int depth = 0; depth < MOST_CAUSES; depth++) {
                Throwable cause = exception.getCause();
                if (cause == null || cause == exception || !isCarrier(exception, cause)) {
                    return exception;
                }
                exception = cause;
            }
        } catch (Throwable failure) {
            // An exception that fails when it is asked about itself is told without an answer.
        }
        return exception;
    }

    private static boolean isCarrier(Throwable exception, Throwable cause) {
        switch (exception.getClass().getName()) {
            case "java.util.concurrent.ExecutionException":
            case "java.util.concurrent.CompletionException":
            case "java.lang.reflect.InvocationTargetException":
            case "java.lang.reflect.UndeclaredThrowableException":
            case "java.security.PrivilegedActionException":
            case "java.lang.ExceptionInInitializerError":
                return true;
            default:
                // A ForkJoinPool makes another exception of the same class for the thread that waits.
                return exception.getClass() == cause.getClass();
        }
    }
}
