package java.lang;

/**
 * The hooks at the program's start, and where the program ends the JVM. In a JVM that executes several runs, both are the beginning and the
 * end of one run.
 */
public abstract class FissureIterated extends FissureInput {
    FissureIterated() {}

    /**
     * The launcher has found the main class of the program, and calls the main method of the class that this returns. In a JVM for several
     * runs that is the driver, which executes the program on request.
     */
    public static Class<?> mainClass(Class<?> main) {
        try {
            if (on) {
                FissureConductor.mainBegins();
                return main;
            }
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return main;
        }
        FissureDriver.program = main;
        return FissureDriver.isWanted() ? FissureDriver.class : main;
    }

    /** Replaces {@code Runtime.exit}: reports the exit, which a security manager may still refuse. */
    public static void exit(Object runtime, int status) throws SecurityException {
        long self = exiting(status);
        try {
            ((Runtime) runtime).exit(status);
        } finally {
            withdrawExit(self);
        }
    }

    /** Replaces {@code Runtime.halt}, which runs no shutdown hooks. */
    public static void halt(Object runtime, int status) throws SecurityException {
        long self = exiting(status);
        try {
            ((Runtime) runtime).halt(status);
        } finally {
            withdrawExit(self);
        }
    }

    private static long exiting(int status) {
        try {
            long self = status != 0 ? self() : -1L;
            if (self > 0L) {
                StringBuilder stack = new StringBuilder();
                FissureThrown.addFrames(stack, new Throwable());
                FissureConductor.exits(self, status, stack.toString());
            }
            return self;
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return -1L;
        }
    }

    /** Withdraws a reported exit: the call has returned, so that the exit was refused. */
    private static void withdrawExit(long self) {
        try {
            if (self > 0L) {
                FissureConductor.exitRefused(self);
            }
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
        }
    }

    /** Replaces the native method that ends the JVM: the run ends here. In a JVM for several runs the thread is unwound instead. */
    public static void halts(int status) {
        try {
            if (on) {
                FissureConductor.ends(self(), status);
            }
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
        }
        Shutdown.halt0(status);
    }
}
