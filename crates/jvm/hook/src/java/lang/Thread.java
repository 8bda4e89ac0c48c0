package java.lang;

/**
 * A compile-time stub of Thread for the hook classes: the fields that the agent adds to the real class when the JVM loads it, and the
 * methods that the hook classes use. It is never delivered; at run time the JVM's own class is used.
 */
public class Thread implements Runnable {
    long fissureRead;
    long fissureWrite;
    long fissureFresh;
    long[] fissureSettled;
    FissureThread fissureState;
    long fissureControl;

    /** As in the real class. */
    public enum State {
        NEW, RUNNABLE, BLOCKED, WAITING, TIMED_WAITING, TERMINATED
    }

    public static native Thread currentThread();

    public native State getState();

    public final native boolean isAlive();

    public final native String getName();

    public final native void setName(String name);

    public native void setContextClassLoader(ClassLoader loader);

    public final native boolean isDaemon();

    /** Exists from Java 19 on. */
    public final native boolean isVirtual();

    public native long getId();

    public native boolean isInterrupted();

    public static native boolean interrupted();

    public static native boolean holdsLock(Object object);

    public static native void yield();

    public static native void sleep(long millis) throws InterruptedException;

    public static native void sleep(long millis, int nanos) throws InterruptedException;

    public void run() {}
}
