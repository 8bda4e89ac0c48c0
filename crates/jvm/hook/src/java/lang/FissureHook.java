package java.lang;

import java.lang.reflect.Field;

/**
 * The hooks of detection runs. All methods are small, so that the JIT inlines them, can be called from the JVM's first instruction
 * on, and never throw.
 *
 * <p>A location's shadow word is compared with the word for which an access by this thread changes nothing; if they differ,
 * {@link FissureEngine} handles the access. Threads without state have zero words, and so have locations without accesses.
 * The analysis crate's {@code word} module describes the layout of words.
 */
public final class FissureHook {
    /** Set once the agent is ready. */
    static boolean on;

    /** All bits but the site: they are equal if a write by the owner changes nothing. */
    static final long WRITE_MASK = ~0xFFFFFL;
    /** The same for reads, for which it does not matter whether the owner has written. */
    static final long READ_MASK = WRITE_MASK & ~(1L << 60);

    /** Whether the threads that run methods in scope are still counted. */
    static boolean countsThreads = true;

    private FissureHook() {}

    /** Enables the hooks; called once the JVM is initialized. */
    static void begin(Thread main) throws ReflectiveOperationException {
        FissureEngine.begin(main);
        on = true;
    }

    /** A method in scope begins. */
    public static void methodRuns() {
        if (countsThreads) {
            FissureThread.methodRuns();
        }
    }

    public static void read(Object object, long word, int site) {
        if (((word ^ Thread.currentThread().fissureRead) & READ_MASK) != 0L) {
            FissureEngine.field(object, word, site, false);
        }
    }

    public static void write(Object object, long word, int site) {
        if (((word ^ Thread.currentThread().fissureWrite) & WRITE_MASK) != 0L) {
            FissureEngine.field(object, word, site, true);
        }
    }

    /** The shadow of a long field is a double, because two fields of one name must differ in type. */
    public static void read(Object object, double word, int site) {
        read(object, Double.doubleToRawLongBits(word), site);
    }

    public static void write(Object object, double word, int site) {
        write(object, Double.doubleToRawLongBits(word), site);
    }

    public static void readAt(Object object, int site) {
        if (on && object != null) {
            FissureEngine.readAt(object, site);
        }
    }

    public static void writeAt(Object object, int site) {
        if (on && object != null) {
            FissureEngine.writeAt(object, site);
        }
    }

    public static void readStatic(int cell, int site) {
        if (on) {
            FissureEngine.readStatic(cell, site);
        }
    }

    public static void writeStatic(int cell, int site) {
        if (on) {
            FissureEngine.writeStatic(cell, site);
        }
    }

    public static void readStaticAt(int site) {
        if (on) {
            FissureEngine.staticAt(site, false);
        }
    }

    public static void writeStaticAt(int site) {
        if (on) {
            FissureEngine.staticAt(site, true);
        }
    }

    /** A class initializer happens before every other use of the class, so that its accesses are not checked. */
    public static void initializerBegin() {
        if (on) {
            FissureThread.initializer(1);
        }
    }

    public static void initializerEnd() {
        if (on) {
            FissureThread.initializer(-1);
        }
    }

    public static void arrayRead(Object array, int index, int site) {
        if (on && array != null) {
            FissureArrays.access(array, index, site, false);
        }
    }

    public static void arrayWrite(Object array, int index, int site) {
        if (on && array != null) {
            FissureArrays.access(array, index, site, true);
        }
    }

    public static void cloned(Object copy) {
        if (on && copy != null) {
            FissureClones.forget(copy);
        }
    }

    public static void handleReadStatic(Object handle, int site) {
        if (on && handle != null) {
            FissureHandles.staticField(handle, site, false);
        }
    }

    public static void handleWriteStatic(Object handle, int site) {
        if (on && handle != null) {
            FissureHandles.staticField(handle, site, true);
        }
    }

    public static void handleRead(Object handle, Object object, int site) {
        if (on && handle != null) {
            FissureHandles.field(handle, object, site, false);
        }
    }

    public static void handleWrite(Object handle, Object object, int site) {
        if (on && handle != null) {
            FissureHandles.field(handle, object, site, true);
        }
    }

    public static void handleReadElement(Object handle, Object array, int index, int site) {
        if (on && handle != null) {
            FissureHandles.element(handle, array, index, site, false);
        }
    }

    public static void handleWriteElement(Object handle, Object array, int index, int site) {
        if (on && handle != null) {
            FissureHandles.element(handle, array, index, site, true);
        }
    }

    public static void unsafeRead(Object object, long offset, int bytes, int site) {
        if (on) {
            FissureHandles.memory(object, offset, bytes, site, false);
        }
    }

    public static void unsafeWrite(Object object, long offset, int bytes, int site) {
        if (on) {
            FissureHandles.memory(object, offset, bytes, site, true);
        }
    }

    public static void reflectedRead(Object field, Object object, int site) {
        if (on && field != null) {
            FissureHandles.reflected((Field) field, object, site, false);
        }
    }

    public static void reflectedWrite(Object field, Object object, int site) {
        if (on && field != null) {
            FissureHandles.reflected((Field) field, object, site, true);
        }
    }

    public static void elementRead(Object array, int index, int site) {
        if (on && array != null) {
            FissureHandles.element(array, index, site, false);
        }
    }

    public static void elementWrite(Object array, int index, int site) {
        if (on && array != null) {
            FissureHandles.element(array, index, site, true);
        }
    }

    public static void before(Object object, int site) {
        if (on) {
            FissureMonitor.at(object, -1, site, false);
        }
    }

    public static void after(Object object, int site) {
        if (on) {
            FissureMonitor.at(object, -1, site, true);
        }
    }

    public static void beforeElement(Object array, int index, int site) {
        if (on && array != null) {
            FissureMonitor.at(array, index, site, false);
        }
    }

    public static void afterElement(Object array, int index, int site) {
        if (on && array != null) {
            FissureMonitor.at(array, index, site, true);
        }
    }

    public static void afterTry(boolean got, Object lock, int site) {
        if (on && got) {
            FissureMonitor.at(lock, -1, site, true);
        }
    }

    public static void argument(Object value) {
        if (on) {
            FissureMonitor.argument(value);
        }
    }

    /**
     * A monitor is about to be entered. A thread that blocks on it accesses nothing, so that it does no harm to add the monitor to the
     * lock set before the thread holds it.
     */
    public static void enter(Object lock) {
        if (on && lock != null) {
            FissureThread.acquire(lock, FissureThread.EXCLUSIVE, 0);
        }
    }

    /** The same with the site, which the atomicity check needs. */
    public static void enter(Object lock, int site) {
        if (on && lock != null) {
            FissureThread.acquire(lock, FissureThread.EXCLUSIVE, site);
        }
    }

    public static void blockEnter(int site) {
        if (on) {
            FissureThread.blockEnter(site);
        }
    }

    public static void blockExit() {
        if (on) {
            FissureThread.blockExit();
        }
    }

    public static void callAt(int site) {
        if (on) {
            FissureThread.callAt(site);
        }
    }

    public static void atomicRead(Object atomic) {
        if (on) {
            FissureThread.atomic(atomic, false);
        }
    }

    public static void atomicCompared(boolean set, Object atomic) {
        if (on) {
            FissureThread.compared(set, atomic);
        }
    }

    public static void atomicWrite(Object atomic) {
        if (on) {
            FissureThread.atomic(atomic, true);
        }
    }

    public static void exit(Object lock) {
        if (on) {
            FissureThread.release(lock);
        }
    }

    public static void exitTop() {
        if (on) {
            FissureThread.releaseTop();
        }
    }

    /** The monitor that was about to be entered has been entered. */
    public static void entered() {
        if (on && FissureEngine.SYNCHRONIZATION) {
            FissureThread.entered();
        }
    }

    /** An element is about to be put into a collection. */
    public static void gives(Object element) {
        if (on && FissureEngine.SYNCHRONIZATION) {
            FissureOrder.gives(element);
        }
    }

    /** An element was got from a collection. */
    public static void takes(Object element) {
        if (on && FissureEngine.SYNCHRONIZATION) {
            FissureOrder.takes(element);
        }
    }

    public static void volatileRead(Object object) {
        if (on) {
            FissureOrder.volatileRead(object);
        }
    }

    public static void volatileWrite(Object object) {
        if (on) {
            FissureOrder.volatileWrite(object);
        }
    }

    public static void volatileReadAt(Object object, int site) {
        if (on) {
            FissureEngine.volatileReadAt(object, site);
        }
    }

    public static void volatileReadStaticAt(int site) {
        if (on) {
            FissureEngine.volatileReadStaticAt(site);
        }
    }

    public static void volatileReadStatic(int cell) {
        if (on) {
            FissureOrder.volatileReadStatic(cell);
        }
    }

    public static void volatileWriteStatic(int cell) {
        if (on) {
            FissureOrder.volatileWriteStatic(cell);
        }
    }

    public static void waitBegin(Object lock) {
        if (on) {
            if (FissureEngine.ATOMIZER) {
                FissureThread.waitBegins(lock);
            }
            if (FissureEngine.SYNCHRONIZATION) {
                FissureThread.waitReleases(lock);
            }
        }
    }

    /** The same in code outside of the JDK: from now on the monitor orders accesses. */
    public static void guardedWaitBegin(Object lock) {
        if (on) {
            FissureThread.guards(lock);
            waitBegin(lock);
        }
    }

    public static void waitEnd(Object lock) {
        if (on) {
            FissureThread.waits();
            if (FissureEngine.SYNCHRONIZATION) {
                FissureThread.waitAcquires(lock);
            }
        }
    }

    /** Threads wait for the lock, or may do so. */
    public static void notifies(Object lock) {
        if (on && lock != null) {
            FissureThread.guards(lock);
        }
    }

    /** A condition of a lock was made, so that threads may wait for it. The JDK's own conditions are parts of known synchronizers. */
    public static void conditionMade(Object lock) {
        if (on && FissureEngine.isCalledFromOutside()) {
            FissureThread.guards(lock);
        }
    }

    /** A synchronizer that is not the JDK's is about to publish its state. */
    public static void stateReleased(Object synchronizer) {
        if (on && !FissureOrder.isOfTheJdk(synchronizer)) {
            FissureOrder.releaseShared(synchronizer);
        }
    }

    /** A synchronizer that is not the JDK's has read its state. */
    public static void stateAcquired(Object synchronizer) {
        if (on && !FissureOrder.isOfTheJdk(synchronizer)) {
            FissureOrder.acquireState(synchronizer);
        }
    }

    public static void locked(Object lock) {
        if (on) {
            FissureThread.acquireCalled(lock, FissureThread.EXCLUSIVE);
        }
    }

    public static void tryLocked(boolean got, Object lock) {
        if (on) {
            FissureThread.tried(got, lock, FissureThread.EXCLUSIVE);
        }
    }

    public static void readLocked(Object lock) {
        if (on) {
            FissureThread.acquireCalled(lock, FissureThread.SHARED);
        }
    }

    public static void tryReadLocked(boolean got, Object lock) {
        if (on) {
            FissureThread.tried(got, lock, FissureThread.SHARED);
        }
    }

    public static void unlocked(Object lock) {
        if (on) {
            FissureThread.release(lock);
        }
    }

    public static void readWriteLockMade(Object lock) {
        if (on) {
            FissureLocks.readWriteLock(lock);
        }
    }

    public static void stampedWrite(long stamp, Object lock) {
        if (on) {
            FissureThread.tried(stamp != 0L, lock, FissureThread.EXCLUSIVE);
        }
    }

    public static void stampedRead(long stamp, Object lock) {
        if (on) {
            FissureThread.tried(stamp != 0L, lock, FissureThread.SHARED);
        }
    }

    /**
     * Reads between an optimistic stamp and its validation count as protected, because a failed validation discards them. This holds
     * for a zero stamp as well.
     */
    public static void stampedOptimistic(Object lock) {
        if (on) {
            FissureThread.acquireOptimistic(lock);
        }
    }

    public static void stampedConvertedToWrite(long stamp, Object lock) {
        if (stamp != 0L && on) {
            FissureThread.convert(lock, FissureThread.EXCLUSIVE);
        }
    }

    public static void stampedConvertedToRead(long stamp, Object lock) {
        if (stamp != 0L && on) {
            FissureThread.convert(lock, FissureThread.SHARED);
        }
    }

    public static void stampedConvertedToOptimistic(long stamp, Object lock) {
        if (stamp != 0L && on) {
            FissureThread.convert(lock, FissureThread.OPTIMISTIC);
        }
    }

    public static void stampedValidate(Object lock) {
        if (on) {
            FissureThread.releaseOptimistic(lock);
        }
    }

    public static void threadStart(Object child) {
        if (on) {
            FissureThread.start((Thread) child);
        }
    }

    public static void threadJoined(Object child) {
        if (on) {
            FissureThread.joined((Thread) child);
        }
    }

    /** An exception leaves a thread's outermost method. */
    public static void uncaught(Object thrown) {
        if (on && thrown != null) {
            FissureThread.failed((Throwable) thrown, false);
        }
    }

    /** A test framework has caught an exception of a test. */
    public static void testFailed(Object thrown) {
        if (on && thrown != null && !FissureThrown.isAssumption(thrown)) {
            FissureThread.failed((Throwable) thrown, true);
        }
    }

    public static void released(Object token) {
        if (on) {
            FissureOrder.release(token);
        }
    }

    public static void acquired(Object token) {
        if (on) {
            FissureOrder.acquire(token, token);
        }
    }

    /** The thread arrives at a barrier. */
    public static void roundEntered(Object barrier) {
        if (on) {
            FissureRounds.entered(barrier);
        }
    }

    /** The round of the barrier at which the thread arrived is over. */
    public static void roundEnded(Object barrier) {
        if (on) {
            FissureRounds.ended(barrier);
        }
    }

    /** An element was taken out of a collection. */
    public static void taken(Object element, Object collection) {
        if (on) {
            FissureOrder.acquire(element, collection);
        }
    }

    /** A value that a collection computed or already contained: an acquire and a release in one. */
    public static void computed(Object value, Object collection) {
        if (on) {
            FissureOrder.acquire(value, collection);
            FissureOrder.release(value);
        }
    }

    /** The same as {@link #acquired} if code outside of the JDK made the call. */
    public static void sharedAcquired(Object token) {
        if (on) {
            FissureOrder.acquireShared(token, token);
        }
    }

    /** The same as {@link #released} for state that does not hand over what it belongs to: maps, atomics and the like. */
    public static void sharedReleased(Object token) {
        if (on) {
            FissureOrder.releaseShared(token);
        }
    }

    public static void sharedTaken(Object element, Object collection) {
        if (on) {
            FissureOrder.acquireShared(element, collection);
        }
    }

    public static void sharedComputed(Object value, Object collection) {
        if (on) {
            FissureOrder.acquireShared(value, collection);
            FissureOrder.releaseShared(value);
        }
    }

    public static void completes(Object task) {
        if (on) {
            FissureOrder.completes(task);
        }
    }

    /** Hides the fields that the agent added. */
    public static Field[] visibleFields(Field[] fields) {
        try {
            return FissureHandles.withoutOwn(fields);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return fields;
        }
    }
}
