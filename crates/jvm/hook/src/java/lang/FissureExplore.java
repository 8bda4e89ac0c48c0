package java.lang;

import java.lang.reflect.Field;

/**
 * The hooks for the systematic exploration of one harness, schedule by schedule. Instrumented code calls them before every operation
 * that other threads can observe: each call is a scheduling point, at which a thread of the harness blocks until the explorer, in
 * native code, lets it continue.
 *
 * <p>A thread's {@code fissureControl} is its number plus one while it executes a harness, and 0 otherwise; threads with 0 are not
 * controlled. 256 is added for each region that the thread is in and during which other threads may block inside the JVM.
 */
public final class FissureExplore {
    /** The result of a native wait that {@code Thread.interrupt} ended. */
    private static final int INTERRUPTED = 2;
    private static final long REGION = 256L;

    /** Set once the agent is ready. */
    static boolean on;
    /** The base offset and the index scale of arrays of references; 0 if unknown. */
    private static long base;
    private static long scale;

    private FissureExplore() {}

    /** Binds all other native methods; the one symbol that the JVM looks up by name. */
    private static native void initialize();

    private static native void access(long thread, int object, int part, int site, boolean write);

    private static native void acquire(long thread, int lock, int site);

    private static native void release(long thread, int lock);

    /** Exits the real monitor as often as it was entered, waits in the explorer's model, and enters it again as often. */
    private static native int waitIn(long thread, Object object, int lock, long nanos, int site);

    private static native void wake(long thread, int lock, boolean all);

    private static native int pause(long thread, long nanos, int site);

    private static native void parks(long thread, long nanos, int site);

    private static native void permits(long thread, long parked);

    private static native void interrupts(long thread, long interrupted);

    private static native void offers(long thread, int site);

    /** Reports that a harness starts threads, which are not controlled. */
    private static native void stray();

    /** Enables exploration; called once the JVM is initialized. */
    static void begin(Thread main) throws ReflectiveOperationException {
        initialize();
        try {
            // By reflection, because newer JDKs changed the result types.
            base = layout("arrayBaseOffset");
            scale = layout("arrayIndexScale");
        } catch (ReflectiveOperationException unknown) {
            scale = 0L;
        }
        on = true;
    }

    private static long layout(String method) throws ReflectiveOperationException {
        Object unsafe = FissureEngine.U;
        return ((Number) unsafe.getClass().getMethod(method, Class.class).invoke(unsafe, Object[].class)).longValue();
    }

    /** The thread's number and regions; 0 if it executes no harness. */
    private static long self() {
        return on ? Thread.currentThread().fissureControl : 0L;
    }

    /** Whether accesses of a thread are scheduling points: it executes a harness and is in no region. */
    private static boolean stops(long self) {
        return self > 0L && self < REGION;
    }

    // Accesses.

    public static void pointRead(Object object, int part, int site) {
        long self = self();
        if (stops(self)) {
            access(self, System.identityHashCode(object), part, site, false);
        }
    }

    public static void pointWrite(Object object, int part, int site) {
        long self = self();
        if (stops(self)) {
            access(self, System.identityHashCode(object), part, site, true);
        }
    }

    public static void pointElementRead(Object array, int index, int site) {
        long self = self();
        if (stops(self)) {
            access(self, System.identityHashCode(array), index + 1, site, false);
        }
    }

    public static void pointElementWrite(Object array, int index, int site) {
        long self = self();
        if (stops(self)) {
            access(self, System.identityHashCode(array), index + 1, site, true);
        }
    }

    public static void pointUnsafeRead(Object object, long offset, int site) {
        long self = self();
        if (stops(self)) {
            access(self, System.identityHashCode(object), part(object, offset), site, false);
        }
    }

    public static void pointUnsafeWrite(Object object, long offset, int site) {
        long self = self();
        if (stops(self)) {
            access(self, System.identityHashCode(object), part(object, offset), site, true);
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
            access(self, System.identityHashCode(object), 0, 0, true);
        }
    }

    // Monitors.

    public static void enter(Object lock, int site) {
        long self = self();
        if (self > 0L && lock != null) {
            acquire(self, System.identityHashCode(lock), site);
        }
    }

    public static void exit(Object lock) {
        long self = self();
        if (self > 0L) {
            release(self, System.identityHashCode(lock));
        }
    }

    public static void waitOn(Object object, int site) throws InterruptedException {
        waitOn(object, 0L, site);
    }

    public static void waitOn(Object object, long millis, int nanos, int site) throws InterruptedException {
        if (millis < 0L || nanos < 0 || nanos > 999_999) {
            object.wait(millis, nanos);
        }
        waitOn(object, nanos > 0 && millis < Long.MAX_VALUE ? millis + 1L : millis, site);
    }

    public static void waitOn(Object object, long millis, int site) throws InterruptedException {
        long self = self();
        // The real method throws the right exception for invalid calls.
        if (self <= 0L || object == null || millis < 0L || !Thread.holdsLock(object)) {
            object.wait(millis);
            return;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long nanos = millis == 0L ? -1L : nanos(millis);
        if (waitIn(self, object, System.identityHashCode(object), nanos, site) == INTERRUPTED) {
            Thread.interrupted();
            throw new InterruptedException();
        }
    }

    public static void notifyOne(Object object, int site) throws IllegalMonitorStateException {
        object.notify();
        long self = self();
        if (self > 0L) {
            wake(self, System.identityHashCode(object), false);
        }
    }

    public static void notifyAll(Object object, int site) throws IllegalMonitorStateException {
        object.notifyAll();
        long self = self();
        if (self > 0L) {
            wake(self, System.identityHashCode(object), true);
        }
    }

    // Threads and time.

    public static void threadStarting(Object started) {
        if (self() > 0L) {
            stray();
        }
    }

    public static void sleep(long millis, int site) throws InterruptedException {
        long self = self();
        if (self <= 0L || millis < 0L) {
            Thread.sleep(millis);
            return;
        }
        pauseFor(self, nanos(millis), site);
    }

    public static void sleep(long millis, int nanos, int site) throws InterruptedException {
        long self = self();
        if (self <= 0L || millis < 0L || nanos < 0 || nanos > 999_999) {
            Thread.sleep(millis, nanos);
            return;
        }
        pauseFor(self, Math.min(nanos(millis), Long.MAX_VALUE - nanos) + nanos, site);
    }

    private static void pauseFor(long self, long nanos, int site) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("sleep interrupted");
        }
        if (pause(self, nanos, site) == INTERRUPTED) {
            Thread.interrupted();
            throw new InterruptedException("sleep interrupted");
        }
    }

    public static void offer(int site) {
        long self = self();
        if (stops(self)) {
            offers(self, site);
        } else {
            Thread.yield();
        }
    }

    public static void park(Object unsafe, boolean absolute, long time, int site) {
        long self = self();
        if (self <= 0L) {
            FissureEngine.U.park(absolute, time);
        } else if (!Thread.currentThread().isInterrupted()) {
            long nanos = time;
            if (absolute) {
                nanos = nanos(Math.max(0L, time - System.currentTimeMillis()));
            } else if (time == 0L) {
                nanos = -1L;
            }
            parks(self, nanos, site);
        }
    }

    public static void unpark(Object unsafe, Object thread) {
        Thread parked = (Thread) thread;
        long self = self();
        if (self > 0L && parked != null && parked.fissureControl > 0L) {
            permits(self, parked.fissureControl);
        } else {
            FissureEngine.U.unpark(thread);
        }
    }

    public static void interrupted(Object thread) {
        long self = self();
        long target = ((Thread) thread).fissureControl;
        if (self > 0L && target > 0L) {
            interrupts(self, target);
        }
    }

    private static long nanos(long millis) {
        return millis > Long.MAX_VALUE / 1_000_000L ? Long.MAX_VALUE : millis * 1_000_000L;
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

    public static Field[] visibleFields(Field[] fields) {
        return FissureHook.visibleFields(fields);
    }
}
