package java.lang;

import java.io.FileDescriptor;

/**
 * The conductor, in native code. The first group of methods is for all hooks at which threads wait for their turn; the others belong
 * to one of the two kinds of runs: whole programs under control, and harnesses whose schedules are explored.
 *
 * <p>A thread is identified by its {@code fissureControl}. The agent binds the methods of the current kind of run.
 */
final class FissureConductor {
    /** The reasons why a thread returns from {@link #waitIn} and {@link #pause}. */
    static final int CALLED = 0;
    static final int TIMED_OUT = 1;
    static final int INTERRUPTED = 2;

    /** The activities of a thread, see {@link #activity}. */
    static final int UNKNOWN = 0;
    static final int RUNS = 1;
    static final int BLOCKED = 2;
    static final int WAITS = 3;
    static final int WAITS_FOR_TIME = 4;
    static final int ENDED = 5;

    /** See {@link #write}. */
    static final long ERRORS = -100L;

    private FissureConductor() {}

    /** Binds all other native methods; the one symbol that the JVM looks up by name. */
    static native void initialize();

    // All hooks.

    static native void acquire(long thread, int lock, int site);

    static native void release(long thread, int lock);

    /** Exits the real monitor as often as it was entered, waits in the conductor's model, and enters it again as often. */
    static native int waitIn(long thread, Object object, int lock, long joined, long nanos, int site);

    static native void wake(long thread, int lock, boolean all, int site);

    static native int pause(long thread, long nanos, int site);

    static native void parks(long thread, long nanos, int site);

    static native void permits(long thread, long parked);

    static native void interrupts(long thread, long interrupted);

    static native void offers(long thread, int site);

    /** Reports the start of a thread that cannot be controlled. */
    static native void stray();

    // Whole programs.

    static native int newLock(Object lock);

    static native void threadRuns();

    /** Registers a thread that is about to start; returns its number plus one. */
    static native long announce(Thread thread, String name, boolean daemon);

    /** Makes the current thread, which already runs, wait for its turn; returns its number plus one. */
    static native long arrive(String name);

    static native boolean hasEnded(long thread);

    /** Whether all threads that the program waits for have ended. */
    static native boolean isOver();

    static native int activity(long thread);

    static native void started(long parent, long child);

    /** The address of the cell for one release; the conductor processes it before the next operation of any thread. */
    static native long releasePlace();

    /** Gives an object that is internal to the JDK its identity hash. */
    static native void hashInternal(Object object);

    /** The address of the flags of sites; 0 if the identity hashes of internal objects are not kept apart. */
    static native long flagsPlace();

    /** The program's main method is about to be called. */
    static native void mainBegins();

    /** Releases a lock that another thread may have acquired. */
    static native void giveBack(long thread, int lock);

    static native void attempt(long thread, int lock);

    static native void acquired(long thread, int lock, boolean shared);

    static native void looks(long thread, int site, boolean stops);

    static native void enterBlock(long thread, int site);

    static native void exitBlock(long thread);

    static native void region(long thread, int change);

    static native void access(long thread, int object, int index, int site);

    static native void holdsIn(long thread, int holder, int held, int site);

    static native void beginsCall(long thread, Object object, int number, boolean walks, int site);

    static native void endsCall(long thread, int site);

    static native void enterUnit(long thread, int site);

    static native void exitUnit(long thread, int site);

    static native void joins(long thread, long ended);

    static native void handsOver(long thread, int token);

    static native void takesOver(long thread, int token, boolean waits);

    static native void throwing(long thread, String type, String message, String stack, boolean isTest);

    static native void exits(long thread, int status, String stack);

    static native void exitRefused(long thread);

    /** The program would end the JVM: the iteration ends, and this throws. Returns if the thread is not controlled. */
    static native void ends(long thread, int status);

    static native long now(long thread);

    static native boolean tellsAllCalls();

    static native boolean stopsAtVolatiles();

    /** Whether an interrupt ends a wait for input: it does not, it does, or the thread has been interrupted already. */
    static final int UNINTERRUPTIBLE = 0;
    static final int INTERRUPTIBLE = 1;
    static final int IS_INTERRUPTED = 2;

    /**
     * Stands in for {@code poll} with one descriptor; returns the events that have happened, 0 after the time and after an interrupt that
     * ends the wait.
     */
    static native int poll(long thread, FileDescriptor descriptor, int events, long millis, int interrupts, int site);

    /** Stands in for {@code epoll_wait}; returns the number of events stored at the address. */
    static native int epoll(long thread, int epoll, long address, int count, int millis, int site);

    /** Waits until an operation on the descriptor would not block in the kernel; returns whether an interrupt ended the wait before that. */
    static native boolean awaitInput(long thread, FileDescriptor descriptor, int interrupts, int site);

    /**
     * Stands in for {@code write}, or for {@code writev} if the address is that of a list of buffers; returns the number of bytes
     * written, one of the JDK's statuses (there is no room, a signal interrupted the call), or {@link #ERRORS} less the number of an
     * error.
     */
    static native long write(long thread, FileDescriptor descriptor, long address, int length, boolean vectors, int site);

    /** The text of an error of a system call. */
    static native String errorText(int number);

    /** Waits for the end of a process; returns its exit code, or -2 if it is no child of this process. */
    static native int awaitProcess(long thread, long process, boolean reaps, int site);

    // Harnesses.

    /** A thread is about to start another one; returns the number of the new one, 0 if it cannot be controlled. */
    static native long adds(long thread, Thread started, int identity);

    /** Whether a thread that was started during this execution has ended. */
    static native boolean endedBefore(long thread, long other);

    static native void accessPart(long thread, int object, int part, int site, boolean write);
}
