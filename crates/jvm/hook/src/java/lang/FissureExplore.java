package java.lang;

/**
 * The hooks for the systematic exploration of one harness, schedule by schedule. Instrumented code calls them before every operation
 * that other threads can observe: each call is a scheduling point, at which a thread of the harness blocks until the explorer, in
 * native code, lets it continue.
 *
 * <p>A thread's {@code fissureControl} is its number plus one while it executes a harness, and 0 otherwise; threads with 0 are not
 * controlled. A thread that was started during an execution and is left over at its end has {@link #LEFT}. 256 is added for each region that the thread is in and during which other threads may block inside the JVM.
 */
public final class FissureExplore extends FissureScheduled {
    /** The base offset and the index scale of arrays of references; 0 if unknown. */
    private static long base;
    private static long scale;

    private FissureExplore() {}

    /** Enables exploration; called once the JVM is initialized. */
    static void begin(Thread main) throws ReflectiveOperationException {
        FissureConductor.initialize();
        isExploring = true;
        try {
            // By reflection, because newer JDKs changed the result types.
            base = layout("arrayBaseOffset");
            scale = layout("arrayIndexScale");
        } catch (ReflectiveOperationException unknown) {
            scale = 0L;
        }
        FissureDriver.findDelays();
        on = true;
    }

    private static long layout(String method) throws ReflectiveOperationException {
        Object unsafe = FissureEngine.U;
        return ((Number) unsafe.getClass().getMethod(method, Class.class).invoke(unsafe, Object[].class)).longValue();
    }

    /** Whether accesses of a thread are scheduling points: it executes a harness and is in no region. */
    private static boolean stops(long self) {
        return self > 0L && self < REGION;
    }

    // Accesses.

    public static void pointRead(Object object, int part, int site) {
        long self = self();
        if (stops(self)) {
            FissureConductor.accessPart(self, System.identityHashCode(object), part, site, false);
        }
    }

    public static void pointWrite(Object object, int part, int site) {
        long self = self();
        if (stops(self)) {
            FissureConductor.accessPart(self, System.identityHashCode(object), part, site, true);
        }
    }

    public static void pointElementRead(Object array, int index, int site) {
        long self = self();
        if (stops(self)) {
            FissureConductor.accessPart(self, System.identityHashCode(array), index + 1, site, false);
        }
    }

    public static void pointElementWrite(Object array, int index, int site) {
        long self = self();
        if (stops(self)) {
            FissureConductor.accessPart(self, System.identityHashCode(array), index + 1, site, true);
        }
    }

    public static void pointUnsafeRead(Object object, long offset, int site) {
        long self = self();
        if (stops(self)) {
            FissureConductor.accessPart(self, System.identityHashCode(object), part(object, offset), site, false);
        }
    }

    public static void pointUnsafeWrite(Object object, long offset, int site) {
        long self = self();
        if (stops(self)) {
            FissureConductor.accessPart(self, System.identityHashCode(object), part(object, offset), site, true);
        }
    }

    /** The part number of an access by offset. An element has its index plus one, the same for all kinds of accesses to it. */
    private static int part(Object object, long offset) {
        // The field at an offset is unknown, and the layout of elements is only known for arrays of references.
        return scale > 0L && object instanceof Object[] ? (int) ((offset - base) / scale) + 1 : 0;
    }

    /** A scheduling point before an operation on a synchronizer of the library, which counts as one access. */
    public static void steps(Object object) {
        long self = self();
        if (stops(self)) {
            FissureConductor.accessPart(self, System.identityHashCode(object), 0, 0, true);
        }
    }

    // Monitors.

    public static void enter(Object lock, int site) {
        long self = self();
        if (self > 0L && lock != null) {
            FissureConductor.acquire(self, System.identityHashCode(lock), site);
        }
    }

    public static void exit(Object lock) {
        long self = self();
        if (self > 0L) {
            FissureConductor.release(self, System.identityHashCode(lock));
        }
    }

    // Threads and time.

    public static void threadStarting(Object started) {
        Thread child = (Thread) started;
        long self = self();
        if (self == LEFT) {
            throw new FissureUnwind("the execution is over");
        }
        if (self == 0L && Thread.currentThread().getName().startsWith("fissure-actor")) {
            // A constructor of the object starts it, before the execution.
            FissureConductor.stray();
        }
        if (self <= 0L || child.fissureControl != 0L) {
            return;
        }
        String type = child.getClass().getName();
        boolean isForeign = type.startsWith("jdk.internal.") || type.equals("java.lang.VirtualThread");
        long number = isForeign ? 0L : FissureConductor.adds(self, child, System.identityHashCode(child));
        if (number > 0L) {
            child.fissureControl = number;
        } else {
            FissureConductor.stray();
        }
    }

    public static void threadStarted(Object started) {
        long self = self();
        long number = ((Thread) started).fissureControl;
        if (self > 0L && number > 0L && number < REGION) {
            FissureConductor.started(self, number);
        }
    }

    // Regions during which other threads may block inside the JVM.

    public static void regionBegin() {
        if (self() > 0L) {
            Thread.currentThread().fissureControl += REGION;
        }
    }

    public static void regionEnd() {
        if (self() >= REGION) {
            Thread.currentThread().fissureControl -= REGION;
        }
    }
}
