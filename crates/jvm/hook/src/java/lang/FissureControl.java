package java.lang;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import jdk.internal.misc.Unsafe;

/**
 * What rewritten code calls when Fissure decides which thread runs. A thread stops here before everything that others may
 * notice, and goes on when the conductor, in native code, lets it.
 *
 * <p>A thread's {@code fissureControl} is its number in the conductor plus one; 0 if it is not known, negative if it serves the
 * JVM or cannot be controlled. Such threads use the real monitors, which everyone else enters as well, once the
 * conductor has granted them.
 */
public final class FissureControl {
    /** Set once the agent is ready. */
    static boolean on;

    /** What a thread is told that waited and was interrupted. */
    private static final int INTERRUPTED = 2;

    /** Whether threads may be interrupted at volatile fields and atomics. */
    private static boolean stops;
    /** Whether every call of a collection or an atomic is told. */
    private static boolean tellsAll;
    /**
     * Whether accesses are of no interest, because it is all about what comes in between them and there was never more than one thread.
     * What a program does before it starts its threads may be very much.
     */
    private static boolean isLonely;
    /** After so many looks at volatile fields without anything else a thread lets others go first. */
    private static final int SPINS = 1000;
    /** Who looked at a volatile field last, and how often without anything else; only one thread runs at a time. */
    private static long looker;
    private static int looked;

    /** What the clock shows before the agent is ready; each look of the thread that brings the JVM up takes a microsecond. */
    private static long early = 1_000_000_000L;
    private static Thread first;
    /** The time of day, in milliseconds, at which the clock shows 0: the beginning of the year 2024. */
    private static final long MIDNIGHT = 1_704_067_200_000L;

    /** Apart, for this class is used before others can be: the way to the one release that the conductor has not been told of yet. */
    private static final class Releases {
        static final Unsafe MEMORY = Unsafe.getUnsafe();
        static final long PLACE = releasePlace();

        private Releases() {}

        /** Leaves a release for the conductor to find; says whether there was room. */
        static boolean leave(long thread, int lock) {
            return PLACE != 0L && MEMORY.compareAndSetLong(null, PLACE, 0L, thread << 32 | lock);
        }
    }

    /** Whether it is still to be found out if methods in scope run in more than one thread, and the first that they ran in. */
    private static boolean countsThreads = true;
    private static long firstToRun;

    private FissureControl() {}

    /** A method in scope begins. Only one thread runs at a time. */
    public static void methodRuns() {
        if (countsThreads) {
            long thread = Thread.currentThread().fissureControl;
            if (thread > 0L && thread != firstToRun) {
                countsThreads = firstToRun == 0L;
                firstToRun = thread;
                threadRuns();
            }
        }
    }

    private static native void threadRuns();

    /** Binds all other native methods; the one symbol that the JVM looks up by name. */
    private static native void initialize();

    static native int newLock(Object lock);

    /** Announces a thread; gives its number plus one. */
    private static native long announce(Thread thread, String name, boolean daemon);

    /** Makes the current thread, which runs already, wait for its turn; gives its number plus one. */
    private static native long arrive(String name);

    private static native boolean hasEnded(long thread);

    /** Whether all threads are over that the program waits for. */
    private static native boolean isOver();

    /** What a thread does, as {@link #stateOf} reads it. */
    private static native int activity(long thread);

    /** A thread that cannot be controlled. */
    private static native void stray(Thread thread);

    private static native void started(long parent, long child);

    private static native void acquire(long thread, int lock, int site);

    private static native void release(long thread, int lock);

    /** Where a release may be left: whoever comes to the conductor next, with whatever, tells it first. */
    private static native long releasePlace();

    /** The same for a lock that another thread may have got. */
    private static native void giveBack(long thread, int lock);

    private static native void attempt(long thread, int lock);

    private static native void acquired(long thread, int lock, boolean shared);

    /** Leaves the real monitor, as often as it was entered, waits in the model, and enters it again as often. */
    private static native int waitIn(long thread, Object object, int lock, long joined, long nanos, int site);

    private static native void wake(long thread, int lock, boolean all, int site);

    private static native int pause(long thread, long nanos, int site);

    private static native void parks(long thread, long nanos, int site);

    private static native void permits(long thread, long parked);

    private static native void interrupts(long thread, long interrupted);

    private static native void offers(long thread, int site);

    private static native void looks(long thread, int site, boolean stops);

    private static native void enterBlock(long thread, int site);

    private static native void exitBlock(long thread);

    private static native void region(long thread, int change);

    private static native void access(long thread, int object, int index, int site);

    private static native void holdsIn(long thread, int holder, int held, int site);

    private static native void beginsCall(long thread, Object object, int number, boolean walks, int site);

    private static native void endsCall(long thread, int site);

    private static native void enterUnit(long thread, int site);

    private static native void exitUnit(long thread, int site);

    private static native void joins(long thread, long ended);

    private static native void handsOver(long thread, int place);

    private static native void takesOver(long thread, int place, boolean waits);

    private static native void throwing(long thread, String type, String message, String stack, boolean isTest);

    private static native void exits(long thread, int status, String stack);

    private static native void exitRefused(long thread);

    private static native long now(long thread);

    private static native boolean tellsAllCalls();

    private static native boolean stopsAtVolatiles();

    /** Lets the conductor begin, with the main thread as the one that runs; called once the JVM is up. */
    static void begin(Thread main) throws ReflectiveOperationException {
        initialize();
        main.fissureControl = announce(main, main.getName(), false);
        Object lock = new Object();
        int number = FissureNumbers.of(lock);
        acquire(main.fissureControl, number, 0);
        release(main.fissureControl, number);
        stops = stopsAtVolatiles();
        tellsAll = tellsAllCalls();
        isLonely = tellsAll;
        on = true;
    }

    private static long self() {
        Thread thread = Thread.currentThread();
        long self = thread.fissureControl;
        return self != 0L ? self : introduce(thread);
    }

    /**
     * A thread that nobody announced serves the JVM. So does the one that ends it, as long as it waits inside of the JVM for
     * the program's threads; what it does after that is the program's end.
     */
    private static long introduce(Thread thread) {
        if (!"DestroyJavaVM".equals(thread.getName())) {
            thread.fissureControl = -1L;
        } else if (isOver()) {
            thread.fissureControl = -1L;
            thread.fissureControl = arrive("DestroyJavaVM");
        }
        return thread.fissureControl;
    }

    // Monitors.

    public static void enter(Object lock, int site) {
        if (on && lock != null) {
            long self = self();
            if (self > 0L) {
                looked = 0;
                acquire(self, FissureNumbers.of(lock), site);
            }
        }
    }

    public static void exit(Object lock) {
        if (on) {
            long self = self();
            if (self > 0L) {
                int number = FissureNumbers.of(lock);
                // Nobody stops at a release, so that it need not be told before anything else is.
                if (!Releases.leave(self, number)) {
                    release(self, number);
                }
            }
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
        long self = on ? self() : -1L;
        // What is wrong with a call, the JVM itself says best.
        if (self <= 0L || object == null || millis < 0L || !Thread.holdsLock(object)) {
            object.wait(millis);
            return;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long joined = object instanceof Thread ? ((Thread) object).fissureControl : 0L;
        if (joined > 0L && hasEnded(joined)) {
            // It is over, and the JVM is about to say so to those who wait for it.
            while (((Thread) object).isAlive()) {
                object.wait(1L);
            }
            return;
        }
        long nanos = millis == 0L ? -1L : nanos(millis);
        int note = FissureWaits.add(object);
        int woken = waitIn(self, object, FissureNumbers.of(object), joined, nanos, site);
        FissureWaits.remove(note);
        if (woken == INTERRUPTED) {
            Thread.interrupted();
            throw new InterruptedException();
        }
    }

    public static void notifyOne(Object object, int site) throws IllegalMonitorStateException {
        notify(object, false, site);
    }

    public static void notifyAll(Object object, int site) throws IllegalMonitorStateException {
        notify(object, true, site);
    }

    private static void notify(Object object, boolean all, int site) {
        // Threads that are not controlled wait in the real monitor.
        if (all) {
            object.notifyAll();
        } else {
            object.notify();
        }
        if (!on) {
            return;
        }
        long self = self();
        // The JVM's own threads come when they like: they must not draw an identity hash, which the next object would notice.
        if (self > 0L || FissureWaits.has(object)) {
            wake(self, FissureNumbers.of(object), all, site);
        }
    }

    // Threads and time.

    public static void threadStarting(Object started) {
        Thread child = (Thread) started;
        if (!on || child.fissureControl != 0L) {
            return;
        }
        String type = child.getClass().getName();
        boolean isOfTheJdk = type.startsWith("jdk.internal.");
        if (isOfTheJdk || isOfABuildTool(child.getName()) || self() <= 0L && child.isDaemon()) {
            child.fissureControl = -1L;
        } else if (type.startsWith("java.lang.VirtualThread") || type.startsWith("java.lang.ThreadBuilders")) {
            child.fissureControl = -1L;
            stray(child);
        } else {
            isLonely = false;
            child.fissureControl = announce(child, child.getName(), child.isDaemon());
        }
    }

    /**
     * Threads by which the JVM of tests talks to Maven Surefire or Gradle. They wait for what comes from there, whenever that
     * is, and have no part in the tests.
     */
    private static boolean isOfABuildTool(String name) {
        return name.startsWith("surefire-forkedjvm-");
    }

    public static void threadStarted(Object started) {
        Thread child = (Thread) started;
        if (on && child.fissureControl > 0L) {
            started(self(), child.fissureControl);
        }
    }

    /** A thread that waits for its turn waits inside of the agent, which the JVM cannot know the reason of. */
    public static Thread.State stateOf(Object object) {
        Thread thread = (Thread) object;
        switch (activityOf(thread)) {
            case 1:
                return Thread.State.RUNNABLE;
            case 2:
                return Thread.State.BLOCKED;
            case 3:
                return Thread.State.WAITING;
            case 4:
                return Thread.State.TIMED_WAITING;
            case 5:
                return Thread.State.TERMINATED;
            default:
                return thread.getState();
        }
    }

    private static int activityOf(Thread thread) {
        try {
            return on && thread.fissureControl > 0L ? activity(thread.fissureControl) : 0;
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return 0;
        }
    }

    public static void sleep(long millis, int site) throws InterruptedException {
        long self = on ? self() : -1L;
        if (self <= 0L || millis < 0L) {
            Thread.sleep(millis);
            return;
        }
        pauseFor(self, nanos(millis), site);
    }

    public static void sleep(long millis, int nanos, int site) throws InterruptedException {
        long self = on ? self() : -1L;
        if (self <= 0L || millis < 0L || nanos < 0 || nanos > 999_999) {
            Thread.sleep(millis, nanos);
            return;
        }
        pauseFor(self, Math.min(nanos(millis), Long.MAX_VALUE - nanos) + nanos, site);
    }

    public static void sleepNanos(long nanos, int site) throws InterruptedException {
        long self = on ? self() : -1L;
        if (self <= 0L) {
            reallySleep(nanos);
            return;
        }
        pauseFor(self, nanos, site);
    }

    /** Thread's own methods, which this stands in for, would come back here. */
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
        long self = on ? self() : -1L;
        if (self > 0L) {
            offers(self, site);
        } else {
            Thread.yield();
        }
    }

    public static void park(Object unsafe, boolean absolute, long time, int site) {
        long self = on ? self() : -1L;
        if (self <= 0L) {
            FissureEngine.U.park(absolute, time);
        } else if (!Thread.currentThread().isInterrupted()) {
            long nanos = time;
            if (absolute) {
                nanos = Math.max(0L, nanos(Math.max(0L, time - currentTimeMillis())));
            } else if (time == 0L) {
                nanos = -1L;
            }
            parks(self, nanos, site);
        }
    }

    public static void unpark(Object unsafe, Object thread) {
        Thread parked = (Thread) thread;
        if (on && parked != null && parked.fissureControl > 0L) {
            permits(self(), parked.fissureControl);
        } else {
            FissureEngine.U.unpark(thread);
        }
    }

    public static void interrupted(Object thread) {
        long target = ((Thread) thread).fissureControl;
        if (on && target > 0L) {
            interrupts(self(), target);
        }
    }

    public static long nanoTime() {
        try {
            return on ? now(self()) : early();
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return early();
        }
    }

    public static long currentTimeMillis() {
        return MIDNIGHT + nanoTime() / 1_000_000L;
    }

    /** What {@code jdk.internal.misc.VM.getNanoTimeAdjustment} answers: the time of day in nanoseconds, since some second. */
    public static long adjustment(long second) {
        long nanos = nanoTime();
        return (MIDNIGHT / 1000L - second) * 1_000_000_000L + nanos;
    }

    private static long early() {
        Thread thread = Thread.currentThread();
        if (first == null) {
            first = thread;
        }
        return thread == first ? early += 1000L : early;
    }

    // Chance.

    public static void randomBytes(Object source, byte[] bytes) {
        FissureChance.fill(bytes);
    }

    public static byte[] randomSeed(Object source, int length) {
        byte[] bytes = new byte[length];
        FissureChance.fill(bytes);
        return bytes;
    }

    public static void seedBytes(byte[] bytes) {
        FissureChance.fill(bytes);
    }

    public static byte[] entropy() {
        return randomSeed(null, 20);
    }

    private static long nanos(long millis) {
        return millis > Long.MAX_VALUE / 1_000_000L ? Long.MAX_VALUE : millis * 1_000_000L;
    }

    /** An exception leaves a thread's outermost method. */
    public static void uncaught(Object thrown) {
        failed(thrown, false);
    }

    /** A test framework has got an exception from a test. */
    public static void testFailed(Object thrown) {
        if (thrown != null && !FissureThrown.isAssumption(thrown)) {
            failed(thrown, true);
        }
    }

    private static void failed(Object thrown, boolean isTest) {
        long self = on ? self() : -1L;
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
            // An exception that fails when it is asked about itself is told without an answer.
        }
        throwing(self, exception.getClass().getName(), message, stack.toString(), isTest);
    }

    /** The program ends itself, unless a security manager forbids it. */
    public static void exit(Object runtime, int status) throws SecurityException {
        long self = exiting(status);
        try {
            ((Runtime) runtime).exit(status);
        } finally {
            staysAlive(self);
        }
    }

    /** The same, without hooks. */
    public static void halt(Object runtime, int status) throws SecurityException {
        long self = exiting(status);
        try {
            ((Runtime) runtime).halt(status);
        } finally {
            staysAlive(self);
        }
    }

    private static long exiting(int status) {
        long self = on && status != 0 ? self() : -1L;
        if (self > 0L) {
            StringBuilder stack = new StringBuilder();
            FissureThrown.addFrames(stack, new Throwable());
            exits(self, status, stack.toString());
        }
        return self;
    }

    /** The call that should have ended the program has come back. */
    private static void staysAlive(long self) {
        if (self > 0L) {
            exitRefused(self);
        }
    }

    // Volatile fields and atomics.

    public static void volatileRead(Object object) {
        long self = on ? self() : -1L;
        if (self <= 0L) {
            return;
        }
        if (stops) {
            looks(self, 0, true);
        } else if (looker != self) {
            looker = self;
            looked = 1;
        } else if (++looked >= SPINS) {
            // It does nothing else any more: it waits for somebody.
            looked = 0;
            offers(self, 0);
        }
    }

    public static void volatileWrite(Object object) {
        long self = on && stops ? self() : -1L;
        if (self > 0L) {
            looks(self, 0, true);
        }
    }

    /** Where a plain field was last looked at, and how often without looking at others. */
    private static int lookedAt;
    private static int looks;
    /** After so many looks at one plain field a thread waits for somebody. */
    private static final int MOST_LOOKS = 10_000;

    public static void lookAt(int site) {
        if (site != lookedAt) {
            lookedAt = site;
            looks = 0;
        } else if (++looks >= MOST_LOOKS) {
            looks = 0;
            long self = on ? self() : -1L;
            if (self > 0L) {
                offers(self, site);
            }
        }
    }

    // Memory accesses, and the methods that they are in.

    public static void readAt(Object object, int site) {
        accesses(object, 0, site);
    }

    public static void writeAt(Object object, int site) {
        accesses(object, 0, site);
    }

    public static void readStaticAt(int site) {
        long self = on && !isLonely ? self() : -1L;
        if (self > 0L) {
            access(self, 0, 0, site);
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
        long self = on && !isLonely ? self() : -1L;
        if (self > 0L && object != null) {
            access(self, FissureObjects.numberOf(object), index, site);
        }
    }

    // What fields hold, and what is done to the contents of collections.

    public static void holds(Object holder, Object held, int site) {
        long self = on && !isLonely ? self() : -1L;
        if (self > 0L && FissureObjects.isContainer(held)) {
            int number = holder == null ? 0 : FissureObjects.numberOf(holder);
            holdsIn(self, number, FissureObjects.numberOf(held), site);
        }
    }

    public static void contentsBegin(Object collection, int site) {
        beginCall(collection, false, site);
    }

    public static void walkBegin(Object collection, int site) {
        beginCall(collection, true, site);
    }

    private static void beginCall(Object collection, boolean walks, int site) {
        long self = on && !isLonely ? self() : -1L;
        if (self <= 0L || collection == null) {
            return;
        }
        // What no field was seen to hold has no number, unless all are wanted.
        int number =
                tellsAll ? FissureObjects.numberOfUsed(collection, self) : FissureObjects.knownNumberOf(collection);
        if (number > 0) {
            beginsCall(self, collection, number, walks, site);
        }
    }

    public static void contentsEnd(int site) {
        long self = on ? self() : -1L;
        if (self > 0L) {
            endsCall(self, site);
        }
    }

    public static void unitEnter(int site) {
        long self = on ? self() : -1L;
        if (self > 0L) {
            enterUnit(self, site);
        }
    }

    public static void unitExit(int site) {
        long self = on ? self() : -1L;
        if (self > 0L) {
            exitUnit(self, site);
        }
    }

    // What a program does to put its threads into an order, beside starting and waking them.

    public static void threadJoined(Object ended) {
        long self = on ? self() : -1L;
        long other = ((Thread) ended).fissureControl;
        if (self > 0L && other > 0L && hasEnded(other)) {
            joins(self, other);
        }
    }

    public static void released(Object place) {
        long self = on && place != null ? self() : -1L;
        if (self > 0L) {
            handsOver(self, FissureObjects.numberOf(place));
        }
    }

    public static void acquired(Object place) {
        takeOver(place, true);
    }

    /** An element was taken out of a collection, without having waited for it perhaps. */
    public static void taken(Object element, Object collection) {
        takeOver(element, false);
    }

    public static void completes(Object task) {
        released(((CountedCompleter<?>) task).getRoot());
    }

    private static void takeOver(Object place, boolean waits) {
        long self = on && place != null ? self() : -1L;
        if (self > 0L) {
            takesOver(self, FissureObjects.numberOf(place), waits);
        }
    }

    // Locks of the library, which block by parking.

    public static void attempts(Object lock) {
        long self = on ? self() : -1L;
        if (self > 0L) {
            attempt(self, FissureNumbers.of(lock));
        }
    }

    public static void locked(Object lock) {
        got(lock, false);
    }

    public static void readLocked(Object lock) {
        got(lock, true);
    }

    public static void tryLocked(boolean got, Object lock) {
        if (got) {
            got(lock, false);
        }
    }

    public static void tryReadLocked(boolean got, Object lock) {
        if (got) {
            got(lock, true);
        }
    }

    public static void stampedWrite(long stamp, Object lock) {
        if (stamp != 0L) {
            got(lock, false);
        }
    }

    public static void stampedRead(long stamp, Object lock) {
        if (stamp != 0L) {
            got(lock, true);
        }
    }

    private static void got(Object lock, boolean shared) {
        long self = on ? self() : -1L;
        if (self > 0L) {
            acquired(self, FissureNumbers.of(lock), shared);
        }
    }

    /** Both halves of a read-write lock are one lock. */
    public static void readWriteLockMade(Object made) {
        if (!on) {
            return;
        }
        ReentrantReadWriteLock lock = (ReentrantReadWriteLock) made;
        Object write = lock.writeLock();
        Object read = lock.readLock();
        if (write != null && read != null) {
            FissureNumbers.addHalves(lock, write, read);
        }
    }

    public static void unlocked(Object lock) {
        long self = on ? self() : -1L;
        if (self > 0L) {
            release(self, FissureNumbers.of(lock));
        }
    }

    public static void semaphoreMade(Object made) {
        if (on && ((Semaphore) made).availablePermits() == 1) {
            FissureNumbers.markPermit(made);
        }
    }

    public static void attemptsPermit(Object semaphore) {
        if (on) {
            if (FissureNumbers.isPermit(semaphore)) {
                attempts(semaphore);
            } else {
                steps(semaphore);
            }
        }
    }

    public static void permitted(Object semaphore) {
        if (on && FissureNumbers.isPermit(semaphore)) {
            got(semaphore, false);
        }
    }

    public static void tryPermitted(boolean got, Object semaphore) {
        if (got) {
            permitted(semaphore);
        }
    }

    public static void permitReturned(Object semaphore) {
        if (on && FissureNumbers.isPermit(semaphore)) {
            long self = self();
            if (self > 0L) {
                giveBack(self, FissureNumbers.of(semaphore));
            }
        } else {
            steps(semaphore);
        }
    }

    /** About to do something else at which others may go first. */
    public static void steps(Object object) {
        long self = on ? self() : -1L;
        if (self > 0L) {
            attempt(self, -1);
        }
    }

    // Atomic blocks, and what the JVM itself waits for.

    public static void blockEnter(int site) {
        long self = on ? self() : -1L;
        if (self > 0L) {
            enterBlock(self, site);
        }
    }

    public static void blockExit() {
        long self = on ? self() : -1L;
        if (self > 0L) {
            exitBlock(self);
        }
    }

    public static void regionBegin() {
        long self = on ? self() : -1L;
        if (self > 0L) {
            region(self, 1);
        }
    }

    public static void regionEnd() {
        long self = on ? self() : -1L;
        if (self > 0L) {
            region(self, -1);
        }
    }

    /** In the order of their names and parameters: that of the JVM is the order of addresses, which differs from run to run. */
    public static Method[] orderedMethods(Method[] methods) {
        try {
            return FissureChance.ordered(methods);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return methods;
        }
    }

    public static Field[] visibleFields(Field[] fields) {
        return FissureHook.visibleFields(fields);
    }
}
