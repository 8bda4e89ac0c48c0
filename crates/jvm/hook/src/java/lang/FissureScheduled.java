package java.lang;

import java.lang.reflect.Field;

/**
 * The hooks that block and wake threads, for whole programs under control ({@link FissureControl}) and for harnesses whose schedules
 * are explored ({@link FissureExplore}). One JVM has only one of the two.
 *
 * <p>Exceptions of Fissure's own code do not leave these methods: they end control, and the real operation is executed instead. Those
 * of the real operation pass.
 */
public abstract class FissureScheduled {
    /** Set once the agent is ready. */
    static boolean on;
    /** Whether harnesses are explored. */
    static boolean isExploring;

    /** Added to the number of a harness's thread for each region that it is in and during which others may block inside the JVM. */
    static final long REGION = 256L;

    /** The {@code fissureControl} of a thread that is left over from an execution: it is unwound where it would block. */
    static final long LEFT = -2L;

    FissureScheduled() {}

    /** The current thread's {@code fissureControl}; not positive if the thread is not controlled. */
    static long self() {
        if (!on) {
            return -1L;
        }
        Thread thread = Thread.currentThread();
        long self = thread.fissureControl;
        return self != 0L || isExploring ? self : FissureControl.introduce(thread);
    }

    /** The same for hooks that execute a real operation: if Fissure fails, the thread is not controlled. */
    private static long selfOrNone() {
        try {
            return self();
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return -1L;
        }
    }

    /** The number of a lock. */
    private static int numberOf(Object lock) {
        return isExploring ? System.identityHashCode(lock) : FissureNumbers.of(lock);
    }

    // Monitors.

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
        long self = selfOrNone();
        unwindIfLeft(self);
        // The real method throws the right exception for invalid calls.
        if (self <= 0L || object == null || millis < 0L || !Thread.holdsLock(object)) {
            object.wait(millis);
            return;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long joined = object instanceof Thread ? ((Thread) object).fissureControl : 0L;
        if (hasEnded(self, joined)) {
            // The thread has ended, and the JVM is about to notify its joiners.
            while (((Thread) object).isAlive()) {
                object.wait(1L);
            }
            return;
        }
        int woken;
        try {
            woken = waitFor(self, object, joined, millis, site);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            object.wait(millis);
            return;
        }
        if (woken == FissureConductor.INTERRUPTED) {
            Thread.interrupted();
            throw new InterruptedException();
        }
    }

    private static void unwindIfLeft(long self) {
        if (self == LEFT) {
            throw new FissureUnwind("the execution is over");
        }
    }

    private static boolean hasEnded(long self, long thread) {
        try {
            if (isExploring) {
                return thread > 0L && FissureConductor.endedBefore(self, thread);
            }
            return thread > 0L && FissureConductor.hasEnded(thread);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return false;
        }
    }

    private static int waitFor(long self, Object object, long joined, long millis, int site) {
        long nanos = millis == 0L ? -1L : nanos(millis);
        if (isExploring) {
            return FissureConductor.waitIn(self, object, numberOf(object), joined, nanos, site);
        }
        int note = FissureWaits.add(object);
        int woken = FissureConductor.waitIn(self, object, numberOf(object), joined, nanos, site);
        FissureWaits.remove(note);
        return woken;
    }

    public static void notifyOne(Object object, int site) throws IllegalMonitorStateException {
        // Threads that are not controlled wait in the real monitor.
        object.notify();
        notified(object, false, site);
    }

    public static void notifyAll(Object object, int site) throws IllegalMonitorStateException {
        object.notifyAll();
        notified(object, true, site);
    }

    private static void notified(Object object, boolean all, int site) {
        if (!on) {
            return;
        }
        try {
            long self = self();
            // Threads of the JVM arrive at arbitrary times: they must not create an identity hash, which would change the hashes of
            // later objects from run to run.
            if (self > 0L || !isExploring && FissureWaits.has(object)) {
                FissureConductor.wake(self, numberOf(object), all, site);
            }
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
        }
    }

    // Threads and time.

    public static void sleep(long millis, int site) throws InterruptedException {
        long self = selfOrNone();
        unwindIfLeft(self);
        if (self <= 0L || millis < 0L || !pauseFor(self, nanos(millis), site)) {
            Thread.sleep(millis);
        }
    }

    public static void sleep(long millis, int nanos, int site) throws InterruptedException {
        long self = selfOrNone();
        unwindIfLeft(self);
        boolean isInvalid = millis < 0L || nanos < 0 || nanos > 999_999;
        if (self <= 0L || isInvalid || !pauseFor(self, Math.min(nanos(millis), Long.MAX_VALUE - nanos) + nanos, site)) {
            Thread.sleep(millis, nanos);
        }
    }

    /** Replaces the private methods of {@code Thread} that the variants of {@code sleep} call from Java 21 on. */
    public static void sleepNanos(long nanos, int site) throws InterruptedException {
        long self = selfOrNone();
        unwindIfLeft(self);
        if (self <= 0L || !pauseFor(self, nanos, site)) {
            reallySleep(nanos);
        }
    }

    /** Sleeps without {@code Thread.sleep}, whose implementation is redirected to this class. */
    private static void reallySleep(long nanos) throws InterruptedException {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0L; left = until - System.nanoTime()) {
            if (Thread.interrupted()) {
                throw new InterruptedException("sleep interrupted");
            }
            FissureEngine.U.park(false, left);
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("sleep interrupted");
        }
    }

    /** Sleeps in the conductor's model; false if Fissure failed, and the thread has not slept. */
    private static boolean pauseFor(long self, long nanos, int site) throws InterruptedException {
        if (Thread.interrupted()) {
            throw sleepInterrupted();
        }
        int woken;
        try {
            woken = FissureConductor.pause(self, nanos, site);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return false;
        }
        if (woken == FissureConductor.INTERRUPTED) {
            Thread.interrupted();
            throw sleepInterrupted();
        }
        return true;
    }

    /** The exception of an interrupted sleep; only that of a platform thread has a message. */
    private static InterruptedException sleepInterrupted() {
        boolean isVirtual = FissureNames.isBound(Thread.currentThread().getClass().getName());
        return isVirtual ? new InterruptedException() : new InterruptedException("sleep interrupted");
    }

    public static void offer(int site) {
        long self = self();
        if (self > 0L && !(isExploring && self >= REGION)) {
            FissureConductor.offers(self, site);
        } else {
            Thread.yield();
        }
    }

    public static void park(Object unsafe, boolean absolute, long time, int site) {
        long self = self();
        unwindIfLeft(self);
        if (self <= 0L) {
            FissureEngine.U.park(absolute, time);
        } else if (!Thread.currentThread().isInterrupted()) {
            long nanos = time;
            if (absolute) {
                long now = isExploring ? System.currentTimeMillis() : FissureClock.currentTimeMillis();
                nanos = nanos(Math.max(0L, time - now));
            } else if (time == 0L) {
                nanos = -1L;
            }
            FissureConductor.parks(self, nanos, site);
        }
    }

    public static void unpark(Object unsafe, Object thread) {
        Thread parked = (Thread) thread;
        if (on && parked != null && parked.fissureControl > 0L && (!isExploring || self() > 0L)) {
            FissureConductor.permits(self(), parked.fissureControl);
        } else {
            FissureEngine.U.unpark(thread);
        }
    }

    public static void interrupted(Object thread) {
        long target = ((Thread) thread).fissureControl;
        if (on && target > 0L && (!isExploring || self() > 0L)) {
            FissureConductor.interrupts(self(), target);
        }
    }

    private static long nanos(long millis) {
        return millis > Long.MAX_VALUE / 1_000_000L ? Long.MAX_VALUE : millis * 1_000_000L;
    }

    public static Field[] visibleFields(Field[] fields) {
        return FissureHook.visibleFields(fields);
    }
}
