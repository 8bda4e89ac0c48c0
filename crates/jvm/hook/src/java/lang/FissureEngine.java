package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * The slow path of accesses that the comparison of shadow words did not settle. Accesses to locations that only one thread uses are
 * decided here; those that involve a second thread go to the analysis, in native code.
 */
final class FissureEngine {
    static final int EXCLUSIVE = 2;
    static final int EXCLUSIVE_MODIFIED = 3;
    static final int SHARED = 4;
    static final int DONE = 8;
    /** A race was reported, but the location is still followed to find out which accesses race. */
    static final int FOLLOWED = 9;

    /** What {@link #step} adds to the state if it has reported no race. */
    static final int QUIET = 10;

    static final int STATE_SHIFT = 60;
    static final int OWNER_SHIFT = 38;
    static final int SET_SHIFT = 20;
    static final int OWNER_MASK = (1 << 22) - 1;
    static final int SET_MASK = (1 << 18) - 1;

    static final Unsafe U = Unsafe.getUnsafe();
    /** One int per site: the offset of the shadow field or the number of the static cell; 0 for unresolved, -1 for not instrumented. */
    static final long TABLE;
    /** One shadow word per instrumented static field. */
    static final long CELLS;
    /** Four longs per thread, for the first threads; all further threads share the last four. */
    static final long COUNTERS;
    static final int COUNTED_THREADS = 1 << 16;
    /** Whether lock sets are refined while one thread owns a location (Racer) or not (Eraser). */
    static final boolean REFINE;

    /** Whether all locks create happens-before edges. */
    static final boolean HAPPENS_BEFORE;
    /** Whether volatile fields, atomics and monitors that threads wait for create happens-before edges. */
    static final boolean SYNCHRONIZATION;
    /** One int per segment: the number of its thread. */
    static final long OWNERS;
    /** How many segments of a thread are told apart in histories before their cost must be bounded. */
    static final long EXACT;
    /** Two bytes per site, see {@link FissureBlocks}. */
    static final long FLAGS;
    /** Whether atomicity is checked. */
    static final boolean ATOMIZER;
    /** How often each kept execution of a block was seen, one long each. */
    static final long HITS;
    /** Whether re-entrant acquires are ignored (a refinement of Atomizer). */
    static final boolean RE_ENTRANT;
    /** Whether a lock that is always acquired under another one counts as protected (a refinement of Atomizer). */
    static final boolean PROTECTED;
    /** Whether the read of an atomic before a compare-and-set is a mover (a refinement of Atomizer). */
    static final boolean COMPARE_AND_SET;
    /** Whether a monitor script gets events. */
    static final boolean MONITOR;
    /** Whether the monitor script uses the locks that a thread holds. */
    static final boolean MONITORS_LOCKS;

    static {
        initialize();
        long[] constants = new long[16];
        constants(constants);
        TABLE = constants[0];
        CELLS = constants[1];
        COUNTERS = constants[2];
        REFINE = constants[3] != 0L;
        HAPPENS_BEFORE = constants[4] != 0L;
        FLAGS = constants[5];
        HITS = constants[6];
        RE_ENTRANT = constants[7] != 0L;
        PROTECTED = constants[8] != 0L;
        COMPARE_AND_SET = constants[9] != 0L;
        MONITOR = constants[10] != 0L;
        MONITORS_LOCKS = constants[11] != 0L;
        SYNCHRONIZATION = constants[12] != 0L;
        OWNERS = constants[13];
        EXACT = constants[14];
        ATOMIZER = constants[15] != 0L;
    }

    private FissureEngine() {}

    /** Binds all other native methods; the one symbol that the JVM looks up by name. */
    private static native void initialize();

    private static native void constants(long[] out);

    /** The offset of the shadow of the field that a site accesses, if it has one. */
    static native int resolve(int site, Object object);

    static native int resolveStatic(int site);

    /** Finds out whether a site accesses a volatile field or an atomic. */
    static native boolean classify(int site);

    /** The offsets of all shadow words in the objects of a class. */
    static native int[] shadows(Class<?> type);

    /**
     * The site for accesses to one field by the call at site {@code call}: the field at {@code offset} in {@code owner} or a superclass,
     * of type {@code type} if that is known. 0 if the field is not instrumented.
     */
    static native int siteOf(int call, Class<?> owner, long offset, Class<?> type, boolean isStatic);

    /** The word of a location after an access that involves more than its owner; its state is increased by {@link #QUIET} if nothing was reported. */
    static native long step(long word, int thread, int segment, int set, int site, boolean write, Object object);

    /** Whether an access to a followed location races with one of another thread. */
    static native boolean isRacy(long word, int span, int set, boolean write);

    /** The word of a lock after an acquire that involves more than its owner. */
    static native long stepLock(long word, int span, int set, boolean write, int lock);

    /** Judges an execution of a block that may not be atomic; returns the number of the execution, 0 if it is not kept. */
    static native int blockEnded(
            int thread, int site, int[] operations, long[] about, Object[] owners, long[] stacks, int[] inner);

    /** Records the entry of a block that is not known to have run. */
    static native void blockRan(int site);

    /** Stores the stack of the current thread under a number. */
    static native void sampleBlock(long number);

    static native int addLock(int set, int lock);

    static native int intersect(int left, int right);

    static native int newLock(Object lock);

    /** Registers a thread; returns its number and its segment packed as two ints. */
    static native long startThread(int parent, Thread child, String name);

    /** Counts another thread that runs methods in scope; returns whether further ones are counted. */
    static native boolean threadRuns();

    static native int joinThread(int thread, int ended);

    static native int segmentOf(int thread);

    /** The segment of a thread in the order by start and join alone. */
    static native int spanOf(int thread);

    /**
     * Releases a thread's clock into a synchronization object, which gets a number if it has none (-1). Returns the number and the
     * thread's segment packed as two ints; -1 if that failed.
     */
    static native long release(int thread, int synchronizer, boolean handsOver, boolean hasAccesses);

    /**
     * Joins the clock of a synchronization object into a thread's clock; returns the thread's segment, -1 if it learned nothing.
     * {@code handsOver} says whether the object is one that hands over, unlike a volatile field or an atomic.
     */
    static native int acquire(int thread, int synchronizer, int source, boolean handsOver, boolean hasAccesses);

    /** Forgets a synchronization object. */
    static native void forget(int synchronizer);

    /** Whether code outside of the JDK called the method of the JDK that called the hook. */
    static native boolean isCalledFromOutside();

    /** Numbers something that orders accesses, by the words that a report uses for it. */
    static native int newSource(String name);

    /** Stores the stack of the current thread for a site. */
    static native void sample(int thread, int site);

    /**
     * Passes an event to the monitor script. Locks are numbers, negative for those held in shared mode. Arguments are the references
     * among the call's arguments; null if the script does not use them.
     */
    static native void monitorEvent(
            int thread,
            int segment,
            int site,
            int index,
            boolean after,
            boolean initializing,
            Object object,
            Object[] arguments,
            int[] locks);

    /** Records that an array was too large to be checked. */
    static native void arrayTooLarge();

    /** Records that data was lost because memory was exhausted. */
    static native void outOfMemory();

    /** Records that an exception ended a thread or test; the stack is lines of class, method, file and line number. */
    static native void failed(String thread, String exception, String message, String stack, boolean isTest);

    /**
     * Prepares the engine; called once the JVM is initialized. It uses everything once that instrumented code may call, so that an
     * unsupported JVM fails here and not in the program.
     */
    static void begin(Thread main) {
        FissureThread.attach(main);
        Object lock = new Object();
        FissureThread.acquire(lock, FissureThread.EXCLUSIVE, 0);
        long[] array = new long[1];
        FissureArrays.access(array, 0, 0, true);
        FissureThread.release(lock);
        FissureArrays.access(array, 0, 0, false);
        FissureOrder.tryAll(lock);
        if (ATOMIZER) {
            FissureThread.tryBlocks(lock);
        }
        if (MONITOR) {
            FissureMonitor.argument(lock);
            FissureMonitor.at(lock, -1, 0, false);
        }
        FissureHandles.memory(array, FissureArrays.baseOffset(long[].class), 8, 0, false);
        staticAt(0, false);
        unresolved(array, 0, true);
        main.fissureState.forgetCounts();
    }

    /** The offset of a field in its objects, or in its class. */
    static long offset(java.lang.reflect.Field field) {
        boolean isStatic = java.lang.reflect.Modifier.isStatic(field.getModifiers());
        return isStatic ? U.staticFieldOffset(field) : U.objectFieldOffset(field);
    }

    /** The offset of a field of the hook classes in its objects. */
    static long offset(Class<?> declaring, String name) {
        try {
            return U.objectFieldOffset(declaring.getDeclaredField(name));
        } catch (NoSuchFieldException error) {
            throw new InternalError(error);
        }
    }

    static void attach(Thread thread) {
        if (thread.fissureState == null) {
            FissureThread.attach(thread);
        }
    }

    /** Handles an access to a field whose word differs from the thread's. */
    static void field(Thread current, Object object, long word, int site, boolean write) {
        FissureThread thread = current.fissureState;
        if (thread != null
                && !(word == 0L && thread.begins(current, object, site, write))
                && !thread.settlesAndRemembers(object, word, write)) {
            slowField(thread, object, site, write);
        }
    }

    /** The word of a field that a constructor writes, if the thread's words do not tell. */
    static long fresh(Thread current, int site) {
        FissureThread thread = current.fissureState;
        if (thread == null || thread.isQuiet()) {
            return 0L;
        }
        thread.busy = true;
        try {
            int set = thread.set(null, true);
            thread.accesses();
            thread.newLocation(site);
            return first(thread, set, site, true);
        } catch (OutOfMemoryError error) {
            outOfMemory();
            return 0L;
        } finally {
            thread.busy = false;
        }
    }

    /** The word of a location after its first access. */
    static long first(FissureThread thread, int set, int site, boolean write) {
        return word(write ? EXCLUSIVE_MODIFIED : EXCLUSIVE, thread.segment, REFINE ? set : 0, site);
    }

    static void readAt(Object object, int site) {
        if (MONITOR) {
            FissureMonitor.around(object, -1, site);
            return;
        }
        int offset = U.getInt(TABLE + ((long) site << 2));
        if (offset > 0) {
            FissureHook.read(object, U.getLong(object, (long) offset), site);
        } else if (offset == 0) {
            unresolved(object, site, false);
        }
    }

    static void writeAt(Object object, int site) {
        if (MONITOR) {
            FissureMonitor.around(object, -1, site);
            return;
        }
        int offset = U.getInt(TABLE + ((long) site << 2));
        if (offset > 0) {
            FissureHook.write(object, U.getLong(object, (long) offset), site);
        } else if (offset == 0) {
            unresolved(object, site, true);
        }
        if (SYNCHRONIZATION && FissureBlocks.synchronizes(site)) {
            FissureOrder.volatileWrite(object);
        }
    }

    private static void unresolved(Object object, int site, boolean write) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread != null) {
            slowField(thread, object, site, write);
        }
    }

    private static void slowField(FissureThread thread, Object object, int site, boolean write) {
        if (thread.isQuiet()) {
            return;
        }
        thread.busy = true;
        try {
            int offset = U.getInt(TABLE + ((long) site << 2));
            if (offset == 0) {
                offset = resolve(site, object);
            }
            if (offset > 0) {
                access(thread, thread.set(object, write), object, object, offset, site, write);
            }
        } catch (OutOfMemoryError error) {
            outOfMemory();
        } finally {
            thread.busy = false;
        }
    }

    static void readStatic(int cell, int site) {
        long word = U.getLong(CELLS + ((long) cell << 3));
        Thread thread = Thread.currentThread();
        if (((word ^ thread.fissureRead) & FissureHook.READ_MASK) != 0L
                && !FissureHeld.isSettled(thread.fissureSettled, word, FissureHeld.READS)) {
            cell(cell, word, site, false);
        }
    }

    static void writeStatic(int cell, int site) {
        long word = U.getLong(CELLS + ((long) cell << 3));
        Thread thread = Thread.currentThread();
        if (((word ^ thread.fissureWrite) & FissureHook.WRITE_MASK) != 0L
                && !FissureHeld.isSettled(thread.fissureSettled, word, FissureHeld.WRITES)) {
            cell(cell, word, site, true);
        }
    }

    static void staticAt(int site, boolean write) {
        if (MONITOR) {
            FissureMonitor.around(null, -1, site);
            return;
        }
        int cell = U.getInt(TABLE + ((long) site << 2));
        if (cell == 0) {
            cell = resolvedStatic(site);
        }
        if (cell <= 0) {
            return;
        }
        if (!write) {
            readStatic(cell, site);
            return;
        }
        // The first use of a class comes before the class is loaded, so that it is not known yet whether the field is volatile.
        boolean isLoaded = U.getInt(TABLE + ((long) site << 2)) != 0;
        if (SYNCHRONIZATION && (!isLoaded || FissureBlocks.synchronizes(site))) {
            FissureOrder.volatileWriteStatic(cell);
        }
        writeStatic(cell, site);
    }

    /** A field was read of which it may not be known yet whether it is volatile. */
    static void volatileReadAt(Object object, int site) {
        if (synchronizes(site)) {
            FissureOrder.volatileRead(object);
        }
    }

    static void volatileReadStaticAt(int site) {
        if (!synchronizes(site)) {
            return;
        }
        int cell = U.getInt(TABLE + ((long) site << 2));
        if (cell == 0) {
            cell = resolvedStatic(site);
        }
        if (cell > 0) {
            FissureOrder.volatileReadStatic(cell);
        }
    }

    private static boolean synchronizes(int site) {
        if (FissureBlocks.isClassified(site)) {
            return FissureBlocks.synchronizes(site);
        }
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.busy) {
            return false;
        }
        thread.busy = true;
        try {
            return classify(site);
        } finally {
            thread.busy = false;
        }
    }

    private static int resolvedStatic(int site) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.busy) {
            return 0;
        }
        thread.busy = true;
        try {
            return resolveStatic(site);
        } finally {
            thread.busy = false;
        }
    }

    private static void cell(int cell, long word, int site, boolean write) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.isQuiet() || thread.settlesAndRemembers(null, word, write)) {
            return;
        }
        thread.busy = true;
        try {
            access(thread, thread.set(null, write), null, null, CELLS + ((long) cell << 3), site, write);
        } catch (OutOfMemoryError error) {
            outOfMemory();
        } finally {
            thread.busy = false;
        }
    }

    /** Updates the word at {@code base + offset} for an access to {@code owner} under the lock set {@code set}. */
    static void access(
            FissureThread thread, int set, Object owner, Object base, long offset, int site, boolean write) {
        for (;;) {
            long word = U.getLongVolatile(base, offset);
            thread.isRacy = false;
            thread.accesses();
            long next = next(thread, owner, word, set, site, write);
            if (next == word || U.compareAndSetLong(base, offset, word, next)) {
                if (owner == base && owner != null) {
                    thread.remembersSettled(next, write);
                }
                if (ATOMIZER) {
                    thread.logAccess(owner, base, next, set, site, write);
                }
                return;
            }
        }
    }

    static long next(FissureThread thread, Object owner, long word, int set, int site, boolean write) {
        int state = (int) (word >>> STATE_SHIFT);
        if (state == 0) {
            thread.newLocation(site);
            return first(thread, set, site, write);
        }
        if (state >= DONE && !(ATOMIZER && state == FOLLOWED)) {
            return word;
        }
        if (state < SHARED) {
            int old = (int) (word >>> SET_SHIFT) & SET_MASK;
            int segment = (int) (word >>> OWNER_SHIFT) & OWNER_MASK;
            if (segment == thread.segment) {
                boolean grows = write && state == EXCLUSIVE;
                if (!grows && (!REFINE || thread.common(old, set) == old)) {
                    return word;
                }
                if (grows && (!REFINE || old == set)) {
                    thread.sample(site);
                    return word(EXCLUSIVE_MODIFIED, thread.segment, old, site);
                }
            } else if ((!REFINE || old == set) && thread.stampsItself(segment)) {
                // The word has room for one access. A read leaves the last write, so that a race with the read is taken for ordered if
                // the write is.
                if (!write && state == EXCLUSIVE_MODIFIED) {
                    return word;
                }
                thread.sample(site);
                return word(write ? EXCLUSIVE_MODIFIED : EXCLUSIVE, thread.segment, old, site);
            }
        } else if (thread.knows(word, set, write)) {
            return word;
        }
        thread.sample(site);
        increment(thread.counters + 16L);
        long next = thread.stepAsBefore(word, set, site, write);
        if (next == 0L) {
            next = step(word, thread.id, thread.segment, set, site, write, owner);
            if ((int) (next >>> STATE_SHIFT) >= QUIET) {
                next -= (long) QUIET << STATE_SHIFT;
                thread.remembersStep(word, set, site, write, next);
            }
        }
        int after = (int) (next >>> STATE_SHIFT);
        if (after >= SHARED && after < DONE) {
            thread.learn(next, set, write, false);
        } else if (ATOMIZER && after == FOLLOWED) {
            thread.isRacy = isRacy(next, thread.span, set, write);
            thread.learn(next, set, write, thread.isRacy);
        }
        return next;
    }

    static void increment(long counter) {
        U.putLong(counter, U.getLong(counter) + 1L);
    }

    static long word(int state, int segment, int set, int site) {
        return ((long) state << STATE_SHIFT) | ((long) segment << OWNER_SHIFT) | ((long) set << SET_SHIFT) | site;
    }
}
