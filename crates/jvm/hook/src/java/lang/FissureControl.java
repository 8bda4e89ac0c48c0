package java.lang;

import java.lang.reflect.Method;
import jdk.internal.misc.Unsafe;

/**
 * The hooks of controlled runs. Instrumented code calls them before every operation that other threads can observe: each call is a
 * scheduling point, at which the thread blocks until the conductor, in native code, lets it continue.
 *
 * <p>A thread's {@code fissureControl} is its number in the conductor plus one; 0 if the thread is unknown, negative if it serves the
 * JVM or cannot be controlled. Such threads use only the real monitors; controlled threads enter these as well, once the
 * conductor has granted them.
 */
public final class FissureControl extends FissureConcurrent {
    /** Whether accesses to volatile fields and atomics are scheduling points. */
    private static boolean stops;
    /** Whether every call of a collection or an atomic is reported, not only of those that a field was seen to refer to. */
    private static boolean reportsAllCalls;
    /**
     * Whether accesses are not reported: the run looks for interleavings of accesses, and the program is still in its single-threaded
     * phase. That phase may have very many accesses.
     */
    private static boolean isSingleThreaded;
    /** A thread that makes this many volatile reads without entering a monitor probably spins, and yields. */
    private static final int SPINS = 1000;
    /** The thread of the last volatile read, and the number of its volatile reads in a row; only one thread runs at a time. */
    private static long volatileReader;
    private static int volatileReads;

    /**
     * The memory cell for one release that the conductor has not processed yet. A separate class, because the JVM uses the hook class
     * before it can initialize others.
     */
    private static final class Releases {
        static final Unsafe MEMORY = Unsafe.getUnsafe();
        static final long ADDRESS = FissureConductor.releasePlace();

        private Releases() {}

        /** Stores a release for the conductor; false if the cell is occupied. */
        static boolean store(long thread, int lock) {
            return ADDRESS != 0L && MEMORY.compareAndSetLong(null, ADDRESS, 0L, thread << 32 | lock);
        }
    }

    /** Whether the number of threads that run methods in scope is still counted (up to two), and the first such thread. */
    private static boolean countsThreads = true;
    private static long firstThread;
    /** Whether threads are left over from a run that has ended, and are unwound. */
    private static boolean isUnwinding;

    private FissureControl() {}

    /** A method in scope begins. Only one thread runs at a time. */
    public static void methodRuns() {
        if (countsThreads) {
            long thread = Thread.currentThread().fissureControl;
            if (isUnwinding && thread > 0L) {
                throw new FissureUnwind("the run is over");
            }
            if (thread > 0L && thread != firstThread) {
                countsThreads = firstThread == 0L;
                firstThread = thread;
                FissureConductor.threadRuns();
            }
        }
    }

    /** Starts the conductor, with the main thread as the running one; called once the JVM is initialized. */
    static void begin(Thread main) throws ReflectiveOperationException {
        FissureConductor.initialize();
        beginRun(main);
    }

    /** A run begins, with this thread as its main thread. Nothing is left of the run before. */
    static void beginRun(Thread main) {
        FissureNumbers.clear();
        FissureObjects.clear();
        FissureWaits.clear();
        FissureChance.restart();
        countsThreads = true;
        firstThread = 0L;
        volatileReader = 0L;
        volatileReads = 0;
        plainReadSite = 0;
        plainReads = 0;
        main.fissureControl = FissureConductor.announce(main, main.getName(), false);
        Object lock = new Object();
        int number = FissureNumbers.of(lock);
        FissureConductor.acquire(main.fissureControl, number, 0);
        FissureConductor.release(main.fissureControl, number);
        stops = FissureConductor.stopsAtVolatiles();
        reportsAllCalls = FissureConductor.tellsAllCalls();
        isSingleThreaded = reportsAllCalls;
        on = true;
    }

    /** The run is over: threads that begin a method in scope are unwound. */
    static void unwind() {
        isUnwinding = true;
        countsThreads = true;
    }

    /** No thread of the run is left. */
    static void endRun() {
        on = false;
        isUnwinding = false;
    }

    /**
     * Classifies a thread that was not registered at its start: it serves the JVM. The thread that destroys the JVM counts as such as
     * long as it waits inside the JVM for the program's threads; after that it is controlled, because it then runs the program's
     * shutdown.
     */
    static long introduce(Thread thread) {
        if (!"DestroyJavaVM".equals(thread.getName())) {
            thread.fissureControl = -1L;
        } else if (FissureConductor.isOver()) {
            thread.fissureControl = -1L;
            thread.fissureControl = FissureConductor.arrive("DestroyJavaVM");
        }
        return thread.fissureControl;
    }

    // Monitors.

    public static void enter(Object lock, int site) {
        if (on && lock != null) {
            long self = self();
            if (self > 0L) {
                volatileReads = 0;
                int number = FissureHashes.isQuiet(site) ? FissureNumbers.ofInternal(lock) : FissureNumbers.of(lock);
                FissureConductor.acquire(self, number, site);
            }
        }
    }

    public static void exit(Object lock) {
        if (on) {
            long self = self();
            if (self > 0L) {
                int number = FissureNumbers.of(lock);
                // A release is no scheduling point, so that the conductor need not process it before the next operation.
                if (!Releases.store(self, number)) {
                    FissureConductor.release(self, number);
                }
            }
        }
    }

    // Threads and time.

    public static void threadStarting(Object started) {
        Thread child = (Thread) started;
        if (!on || child.fissureControl != 0L) {
            return;
        }
        String type = child.getClass().getName();
        // The thread that waits for the end of a process wakes threads of the program, so it is controlled like them.
        boolean isOfJdk = type.startsWith("jdk.internal.") && !child.getName().startsWith("process reaper");
        if (isOfJdk || isOfBuildTool(child.getName()) || self() <= 0L && child.isDaemon()) {
            child.fissureControl = -1L;
        } else if (type.equals("java.lang.VirtualThread")) {
            child.fissureControl = -1L;
            FissureConductor.stray();
        } else {
            isSingleThreaded = false;
            child.fissureControl = FissureConductor.announce(child, FissureNames.of(child), child.isDaemon());
        }
    }

    /**
     * Whether a thread is one by which the JVM of the tests communicates with Maven Surefire. Such threads wait for messages that arrive
     * at any time, and take no part in the tests.
     */
    private static boolean isOfBuildTool(String name) {
        return name.startsWith("surefire-forkedjvm-");
    }

    public static void threadStarted(Object started) {
        Thread child = (Thread) started;
        if (on && child.fissureControl > 0L) {
            FissureConductor.started(self(), child.fissureControl);
        }
    }

    /** The state of a controlled thread. It blocks inside the agent, so that the JVM does not know the right state. */
    public static Thread.State stateOf(Object object) {
        Thread thread = (Thread) object;
        switch (activityOf(thread)) {
            case FissureConductor.RUNS:
                return Thread.State.RUNNABLE;
            case FissureConductor.BLOCKED:
                return Thread.State.BLOCKED;
            case FissureConductor.WAITS:
                return Thread.State.WAITING;
            case FissureConductor.WAITS_FOR_TIME:
                return Thread.State.TIMED_WAITING;
            case FissureConductor.ENDED:
                return Thread.State.TERMINATED;
            default:
                return thread.getState();
        }
    }

    private static int activityOf(Thread thread) {
        try {
            return on && thread.fissureControl > 0L ? FissureConductor.activity(thread.fissureControl) : FissureConductor.UNKNOWN;
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return FissureConductor.UNKNOWN;
        }
    }

    /** An exception leaves a thread's outermost method. */
    public static void uncaught(Object thrown) {
        failed(thrown, false);
    }

    /** A test framework has caught an exception of a test. */
    public static void testFailed(Object thrown) {
        if (thrown != null && !FissureThrown.isAssumption(thrown)) {
            failed(thrown, true);
        }
    }

    private static void failed(Object thrown, boolean isTest) {
        long self = self();
        if (self <= 0L || thrown == null) {
            return;
        }
        Throwable exception = FissureThrown.cause((Throwable) thrown);
        String message = null;
        StringBuilder stack = new StringBuilder();
        try {
            message = exception.getMessage();
            FissureThrown.addFrames(stack, exception);
        } catch (Throwable failure) {
            // An exception whose own methods throw is reported without message or stack.
        }
        FissureConductor.throwing(self, exception.getClass().getName(), message, stack.toString(), isTest);
    }

    // Volatile fields and atomics.

    public static void volatileRead(Object object) {
        long self = self();
        if (self <= 0L) {
            return;
        }
        if (stops) {
            FissureConductor.looks(self, 0, true);
        } else {
            countRead(self);
        }
    }

    /** A volatile variable is read, by code or in a way that is no scheduling point. */
    public static void look() {
        long self = self();
        if (self > 0L) {
            countRead(self);
        }
    }

    private static void countRead(long self) {
        if (volatileReader != self) {
            volatileReader = self;
            volatileReads = 1;
        } else if (++volatileReads >= SPINS) {
            // The thread spins until another thread writes.
            volatileReads = 0;
            FissureConductor.offers(self, 0);
        }
    }

    public static void volatileWrite(Object object) {
        long self = on && stops ? self() : -1L;
        if (self > 0L) {
            FissureConductor.looks(self, 0, true);
        }
    }

    /** The site of the last reported read of a plain field, and how often it was read in a row. */
    private static int plainReadSite;
    private static int plainReads;
    /** A thread that reads a plain field this often at one site spins until another thread writes it. */
    private static final int MOST_PLAIN_READS = 10_000;

    public static void lookAt(int site) {
        if (site != plainReadSite) {
            plainReadSite = site;
            plainReads = 0;
        } else if (++plainReads >= MOST_PLAIN_READS) {
            plainReads = 0;
            long self = self();
            if (self > 0L) {
                FissureConductor.offers(self, site);
            }
        }
    }

    // Memory accesses and method executions.

    public static void readAt(Object object, int site) {
        accesses(object, 0, site);
    }

    public static void writeAt(Object object, int site) {
        accesses(object, 0, site);
    }

    public static void readStaticAt(int site) {
        long self = isSingleThreaded ? -1L : self();
        if (self > 0L) {
            FissureConductor.access(self, 0, 0, site);
        }
    }

    public static void writeStaticAt(int site) {
        readStaticAt(site);
    }

    public static void arrayRead(Object array, int index, int site) {
        accesses(array, index, site);
    }

    public static void arrayWrite(Object array, int index, int site) {
        accesses(array, index, site);
    }

    private static void accesses(Object object, int index, int site) {
        long self = isSingleThreaded ? -1L : self();
        if (self > 0L && object != null) {
            FissureConductor.access(self, FissureObjects.numberOf(object), index, site);
        }
    }

    // Values of fields, and calls that use the contents of collections.

    public static void holds(Object holder, Object held, int site) {
        long self = isSingleThreaded ? -1L : self();
        if (self > 0L && FissureObjects.isContainer(held)) {
            int number = holder == null ? 0 : FissureObjects.numberOf(holder);
            FissureConductor.holdsIn(self, number, FissureObjects.numberOf(held), site);
        }
    }

    public static void contentsBegin(Object collection, int site) {
        beginCall(collection, false, site);
    }

    public static void walkBegin(Object collection, int site) {
        beginCall(collection, true, site);
    }

    private static void beginCall(Object collection, boolean walks, int site) {
        long self = isSingleThreaded ? -1L : self();
        if (self <= 0L || collection == null) {
            return;
        }
        // A collection that no field was seen to refer to has no number, unless all calls are reported.
        int number =
                reportsAllCalls ? FissureObjects.numberOfUsed(collection, self) : FissureObjects.knownNumberOf(collection);
        if (number > 0) {
            FissureConductor.beginsCall(self, collection, number, walks, site);
        }
    }

    public static void contentsEnd(int site) {
        long self = self();
        if (self > 0L) {
            FissureConductor.endsCall(self, site);
        }
    }

    public static void unitEnter(int site) {
        long self = self();
        if (self > 0L) {
            FissureConductor.enterUnit(self, site);
        }
    }

    public static void unitExit(int site) {
        long self = self();
        if (self > 0L) {
            FissureConductor.exitUnit(self, site);
        }
    }

    // Atomic blocks, and regions during which other threads may block inside the JVM.

    public static void blockEnter(int site) {
        long self = self();
        if (self > 0L) {
            FissureConductor.enterBlock(self, site);
        }
    }

    public static void blockExit() {
        long self = self();
        if (self > 0L) {
            FissureConductor.exitBlock(self);
        }
    }

    public static void regionBegin() {
        long self = self();
        if (self > 0L) {
            FissureConductor.region(self, 1);
        }
    }

    public static void regionEnd() {
        long self = self();
        if (self > 0L) {
            FissureConductor.region(self, -1);
        }
    }

    /** Sorts methods by name and parameters: the JVM orders them by address, which differs from run to run. */
    public static Method[] orderedMethods(Method[] methods) {
        try {
            return FissureChance.ordered(methods);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return methods;
        }
    }
}
