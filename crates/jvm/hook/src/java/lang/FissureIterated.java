package java.lang;

/** The hooks by which one JVM executes several runs one after the other: at its start, and where the program would end the JVM. */
public abstract class FissureIterated extends FissureInput {
    /** Whether this JVM executes several runs. */
    static boolean isIterating;

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

    /** Replaces the native method that ends the JVM: an iteration ends instead, and the thread is unwound. */
    public static void halts(int status) {
        try {
            if (isIterating && on) {
                FissureConductor.ends(self(), status);
            }
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
        }
        Shutdown.halt0(status);
    }
}
