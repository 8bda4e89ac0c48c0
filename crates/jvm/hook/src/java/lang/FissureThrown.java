package java.lang;

/** Describes exceptions that end a thread or make a test fail. */
final class FissureThrown {
    /** The longest chain of causes that is followed. */
    private static final int MOST_CAUSES = 32;
    private static final int MOST_FRAMES = 64;

    private FissureThrown() {}

    /** Whether {@code Thread.stop} caused the exception. By name, because newer JDKs no longer have the class. */
    static boolean isStop(Throwable thrown) {
        return "java.lang.ThreadDeath".equals(thrown.getClass().getName());
    }

    /** Whether the exception is a violated assumption of a test, which is not a failure. */
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

    /** The original exception inside of wrappers that carry it from one thread or layer to another. */
    static Throwable cause(Throwable thrown) {
        Throwable exception = thrown;
        try {
            for (int depth = 0; depth < MOST_CAUSES; depth++) {
                Throwable cause = exception.getCause();
                if (cause == null || cause == exception || !isWrapper(exception, cause)) {
                    return exception;
                }
                exception = cause;
            }
        } catch (Throwable failure) {
            // An exception whose own methods throw counts as the original one.
        }
        return exception;
    }

    private static boolean isWrapper(Throwable exception, Throwable cause) {
        switch (exception.getClass().getName()) {
            case "java.util.concurrent.ExecutionException":
            case "java.util.concurrent.CompletionException":
            case "java.lang.reflect.InvocationTargetException":
            case "java.lang.reflect.UndeclaredThrowableException":
            case "java.security.PrivilegedActionException":
            case "java.lang.ExceptionInInitializerError":
                return true;
            default:
                // A ForkJoinPool creates another exception of the same class for the thread that waits.
                return exception.getClass() == cause.getClass();
        }
    }
}
