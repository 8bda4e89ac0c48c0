package java.lang;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import jdk.internal.misc.Unsafe;
import sun.nio.ch.Net;

/**
 * The hooks of controlled runs. Instrumented code calls them before every operation that other threads can observe: each call is a
 * scheduling point, at which the thread blocks until the conductor, in native code, lets it continue.
 *
 * <p>A thread's {@code fissureControl} is its number in the conductor plus one; 0 if the thread is unknown, negative if it serves the
 * JVM or cannot be controlled. Such threads use only the real monitors; controlled threads enter these as well, once the
 * conductor has granted them.
 */
public final class FissureControl {
    /** Set once the agent is ready. */
    static boolean on;

    /** The result of a native wait that {@code Thread.interrupt} ended. */
    private static final int INTERRUPTED = 2;

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

    /** The clock in nanoseconds before the agent is ready; it advances by a microsecond when the thread that starts the JVM reads it. */
    private static long early = 1_000_000_000L;
    private static Thread first;
    /** The time of day, in milliseconds, at which the clock is 0: the beginning of the year 2024. */
    private static final long MIDNIGHT = 1_704_067_200_000L;

    /**
     * The memory cell for one release that the conductor has not processed yet. A separate class, because the JVM uses the hook class
     * before it can initialize others.
     */
    private static final class Releases {
        static final Unsafe MEMORY = Unsafe.getUnsafe();
        static final long ADDRESS = releasePlace();

        private Releases() {}

        /** Stores a release for the conductor; false if the cell is occupied. */
        static boolean store(long thread, int lock) {
            return ADDRESS != 0L && MEMORY.compareAndSetLong(null, ADDRESS, 0L, thread << 32 | lock);
        }
    }

    /** Whether the number of threads that run methods in scope is still counted (up to two), and the first such thread. */
    private static boolean countsThreads = true;
    private static long firstThread;

    private FissureControl() {}

    /** A method in scope begins. Only one thread runs at a time. */
    public static void methodRuns() {
        if (countsThreads) {
            long thread = Thread.currentThread().fissureControl;
            if (thread > 0L && thread != firstThread) {
                countsThreads = firstThread == 0L;
                firstThread = thread;
                threadRuns();
            }
        }
    }

    private static native void threadRuns();

    /** Binds all other native methods; the one symbol that the JVM looks up by name. */
    private static native void initialize();

    static native int newLock(Object lock);

    /** Registers a thread that is about to start; returns its number plus one. */
    private static native long announce(Thread thread, String name, boolean daemon);

    /** Makes the current thread, which already runs, wait for its turn; returns its number plus one. */
    private static native long arrive(String name);

    private static native boolean hasEnded(long thread);

    /** Whether all threads that the program waits for have ended. */
    private static native boolean isOver();

    /** The activity of a thread, as a number that {@link #stateOf} decodes. */
    private static native int activity(long thread);

    /** Reports the start of a thread that cannot be controlled. */
    private static native void stray(Thread thread);

    private static native void started(long parent, long child);

    private static native void acquire(long thread, int lock, int site);

    private static native void release(long thread, int lock);

    /** The address of the cell for one release; the conductor processes it before the next operation of any thread. */
    private static native long releasePlace();

    /** Releases a lock that another thread may have acquired. */
    private static native void giveBack(long thread, int lock);

    private static native void attempt(long thread, int lock);

    private static native void acquired(long thread, int lock, boolean shared);

    /** Exits the real monitor as often as it was entered, waits in the conductor's model, and enters it again as often. */
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

    private static native void handsOver(long thread, int token);

    private static native void takesOver(long thread, int token, boolean waits);

    private static native void throwing(long thread, String type, String message, String stack, boolean isTest);

    private static native void exits(long thread, int status, String stack);

    private static native void exitRefused(long thread);

    private static native long now(long thread);

    private static native boolean tellsAllCalls();

    private static native boolean stopsAtVolatiles();

    /** Starts the conductor, with the main thread as the running one; called once the JVM is initialized. */
    static void begin(Thread main) throws ReflectiveOperationException {
        initialize();
        main.fissureControl = announce(main, main.getName(), false);
        Object lock = new Object();
        int number = FissureNumbers.of(lock);
        acquire(main.fissureControl, number, 0);
        release(main.fissureControl, number);
        stops = stopsAtVolatiles();
        reportsAllCalls = tellsAllCalls();
        isSingleThreaded = reportsAllCalls;
        on = true;
    }

    private static long self() {
        Thread thread = Thread.currentThread();
        long self = thread.fissureControl;
        return self != 0L ? self : introduce(thread);
    }

    /**
     * Classifies a thread that was not registered at its start: it serves the JVM. The thread that destroys the JVM counts as such as
     * long as it waits inside the JVM for the program's threads; after that it is controlled, because it then runs the program's
     * shutdown.
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
                volatileReads = 0;
                acquire(self, FissureNumbers.of(lock), site);
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
        // The real method throws the right exception for invalid calls.
        if (self <= 0L || object == null || millis < 0L || !Thread.holdsLock(object)) {
            object.wait(millis);
            return;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long joined = object instanceof Thread ? ((Thread) object).fissureControl : 0L;
        if (joined > 0L && hasEnded(joined)) {
            // The thread has ended, and the JVM is about to notify its joiners.
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
        // Threads of the JVM arrive at arbitrary times: they must not create an identity hash, which would change the hashes of later
        // objects from run to run.
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
        boolean isOfJdk = type.startsWith("jdk.internal.");
        if (isOfJdk || isOfBuildTool(child.getName()) || self() <= 0L && child.isDaemon()) {
            child.fissureControl = -1L;
        } else if (type.startsWith("java.lang.VirtualThread") || type.startsWith("java.lang.ThreadBuilders")) {
            child.fissureControl = -1L;
            stray(child);
        } else {
            isSingleThreaded = false;
            child.fissureControl = announce(child, child.getName(), child.isDaemon());
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
            started(self(), child.fissureControl);
        }
    }

    /** The state of a controlled thread. It blocks inside the agent, so that the JVM does not know the right state. */
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

    /** Replaces {@code jdk.internal.misc.VM.getNanoTimeAdjustment}: the time of day in nanoseconds since the given second. */
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

    // Input.

    /** Replaces {@code sun.nio.ch.Net.poll}. */
    public static int poll(FileDescriptor descriptor, int events, long millis, int site) {
        return FissureInput.poll(on ? self() : -1L, descriptor, events, millis, site);
    }

    /** Replaces {@code sun.nio.ch.EPoll.wait}, in which selectors wait. */
    public static int epoll(int epoll, long address, int count, int millis, int site) {
        return FissureInput.epoll(on ? self() : -1L, epoll, address, count, millis, site);
    }

    /** Replaces {@code sun.nio.ch.Net.accept}: waits for a connection first. */
    public static int accept(FileDescriptor listening, FileDescriptor accepted, InetSocketAddress[] peer, int site)
            throws IOException {
        long self = on ? self() : -1L;
        if (self > 0L) {
            FissureInput.await(self, listening, false, site);
        }
        return Net.accept(listening, accepted, peer);
    }

    /** A socket or pipe is about to be read. */
    public static void reads(Object descriptor) {
        long self = on ? self() : -1L;
        if (self > 0L && descriptor != null) {
            FissureInput.await(self, (FileDescriptor) descriptor, false, 0);
        }
    }

    /** A stream of a file, which may be a pipe or a terminal, is about to be read. */
    public static void readsStream(Object stream) throws IOException {
        long self = on ? self() : -1L;
        if (self > 0L) {
            FissureInput.await(self, ((FileInputStream) stream).getFD(), true, 0);
        }
    }

    // Random numbers.

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

    /** A test framework has caught an exception of a test. */
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
            // An exception whose own methods throw is reported without message or stack.
        }
        throwing(self, exception.getClass().getName(), message, stack.toString(), isTest);
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
        long self = on && status != 0 ? self() : -1L;
        if (self > 0L) {
            StringBuilder stack = new StringBuilder();
            FissureThrown.addFrames(stack, new Throwable());
            exits(self, status, stack.toString());
        }
        return self;
    }

    /** Withdraws a reported exit: the call has returned, so that the exit was refused. */
    private static void withdrawExit(long self) {
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
        } else if (volatileReader != self) {
            volatileReader = self;
            volatileReads = 1;
        } else if (++volatileReads >= SPINS) {
            // The thread spins until another thread writes.
            volatileReads = 0;
            offers(self, 0);
        }
    }

    public static void volatileWrite(Object object) {
        long self = on && stops ? self() : -1L;
        if (self > 0L) {
            looks(self, 0, true);
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
            long self = on ? self() : -1L;
            if (self > 0L) {
                offers(self, site);
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
        long self = on && !isSingleThreaded ? self() : -1L;
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
        long self = on && !isSingleThreaded ? self() : -1L;
        if (self > 0L && object != null) {
            access(self, FissureObjects.numberOf(object), index, site);
        }
    }

    // Values of fields, and calls that use the contents of collections.

    public static void holds(Object holder, Object held, int site) {
        long self = on && !isSingleThreaded ? self() : -1L;
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
        long self = on && !isSingleThreaded ? self() : -1L;
        if (self <= 0L || collection == null) {
            return;
        }
        // A collection that no field was seen to refer to has no number, unless all calls are reported.
        int number =
                reportsAllCalls ? FissureObjects.numberOfUsed(collection, self) : FissureObjects.knownNumberOf(collection);
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

    // Happens-before edges other than those of monitors, thread starts and wake-ups.

    public static void threadJoined(Object ended) {
        long self = on ? self() : -1L;
        long other = ((Thread) ended).fissureControl;
        if (self > 0L && other > 0L && hasEnded(other)) {
            joins(self, other);
        }
    }

    public static void released(Object token) {
        long self = on && token != null ? self() : -1L;
        if (self > 0L) {
            handsOver(self, FissureObjects.numberOf(token));
        }
    }

    public static void acquired(Object token) {
        takeOver(token, true);
    }

    /** An element was taken out of a collection, possibly without waiting for it. */
    public static void taken(Object element, Object collection) {
        takeOver(element, false);
    }

    public static void completes(Object task) {
        released(((CountedCompleter<?>) task).getRoot());
    }

    private static void takeOver(Object token, boolean waits) {
        long self = on && token != null ? self() : -1L;
        if (self > 0L) {
            takesOver(self, FissureObjects.numberOf(token), waits);
        }
    }

    // Locks of java.util.concurrent, which block by parking.

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

    /** Gives both halves of a new read-write lock the same number, because they are one lock. */
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

    /** A scheduling point before any other operation that other threads can observe. */
    public static void steps(Object object) {
        long self = on ? self() : -1L;
        if (self > 0L) {
            attempt(self, -1);
        }
    }

    // Atomic blocks, and regions during which other threads may block inside the JVM.

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

    /** Sorts methods by name and parameters: the JVM orders them by address, which differs from run to run. */
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
