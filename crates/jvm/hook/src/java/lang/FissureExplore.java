package java.lang;

import java.lang.reflect.Field;

/**
 * What rewritten code calls when Fissure executes one harness again and again, under one schedule after the other. The threads
 * that execute it stop here before everything that others may notice, and go on when the explorer, in native code, lets them.
 *
 * <p>A thread's {@code fissureControl} is its number plus one while it executes a harness, and 0 otherwise: everybody else does
 * what the program says. 256 is added for each region that the thread is in for which others may wait inside of the JVM.
 */
public final class FissureExplore {
    /** What a thread is told that waited and was interrupted. */
    private static final int INTERRUPTED = 2;
    private static final long REGION = 256L;

    /** Set once the agent is ready. */
    static boolean on;
    /** Where the elements of arrays of objects begin, and how far they are apart; 0 if that is not known. */
    private static long base;
    private static long scale;

    private FissureExplore() {}

    /** Binds all other native methods; the one symbol that the JVM looks up by name. */
    private static native void initialize();

    private static native void access(long thread, int object, int part, int site, boolean write);

    private static native void acquire(long thread, int lock, int site);

    private static native void release(long thread, int lock);

    /** Leaves the real monitor, as often as it was entered, waits in the model, and enters it again as often. */
    private static native int waitIn(long thread, Object object, int lock, long nanos, int site);

    private static native void wake(long thread, int lock, boolean all);

    private static native int pause(long thread, long nanos, int site);

    private static native void parks(long thread, long nanos, int site);

    private static native void permits(long thread, long parked);

    private static native void interrupts(long thread, long interrupted);

    private static native void offers(long thread, int site);

    /** A harness starts threads, which are not controlled. */
    private static native void stray();

    /** Lets harnesses be explored; called once the JVM is up. */
    static void begin(Thread main) throws ReflectiveOperationException {
        initialize();
        try {
            // Their results have another type in newer JDKs.
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

    /** Whether a thread may be stopped before what others merely may notice. */
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

    /** An element is known by its index plus one, so that it is the same for all ways to get at it. */
    private static int part(Object object, long offset) {
        // Which field is at an offset is not known, and how elements lie only of arrays of objects.
        return scale > 0L && object instanceof Object[] ? (int) ((offset - base) / scale) + 1 : 0;
    }

    /** About to do something with a lock or the like of the library, as a whole. */
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
        // What is wrong with a call, the JVM itself says best.
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

    // What the JVM itself waits for.

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
