package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Accesses that were not settled by comparing words. What one thread does alone is decided here; whatever involves a
 * second thread goes to the analysis, in native code.
 */
final class FissureEngine {
    static final int EXCLUSIVE = 2;
    static final int EXCLUSIVE_MODIFIED = 3;
    static final int SHARED = 4;
    static final int DONE = 8;
    /** A race was reported, but which accesses race is still asked. */
    static final int FOLLOWED = 9;

    static final int STATE_SHIFT = 60;
    static final int OWNER_SHIFT = 38;
    static final int SET_SHIFT = 20;
    static final int OWNER_MASK = (1 << 22) - 1;
    static final int SET_MASK = (1 << 18) - 1;

    static final Unsafe U = Unsafe.getUnsafe();
    /** One int a site: the offset of the shadow field, or the number of the static cell; 0 not known yet, -1 not watched. */
    static final long TABLE;
    /** One long a watched static field. */
    static final long CELLS;
    /** Four longs a thread, for the first threads; the last four are shared by all further ones. */
    static final long COUNTERS;
    static final int COUNTED_THREADS = 1 << 16;
    /** Whether lock sets are refined while one thread owns a location (Racer) or not (Eraser). */
    static final boolean REFINE;

    /** Whether locks and volatile fields order. */
    static final boolean HAPPENS_BEFORE;
    /** Two bytes a site, see {@link FissureBlocks}; 0 unless blocks that should be atomic are looked at. */
    static final long FLAGS;
    /** Whether they are. */
    static final boolean ATOMIZER;
    /** How often an execution of a block was seen, one long each. */
    static final long HITS;
    /** Whether acquires of a lock that is held already do not count. */
    static final boolean RE_ENTRANT;
    /** Whether locks count that are held when another one is acquired. */
    static final boolean PROTECTED;
    /** Whether what was read of an atomic moves to where it is compared and set. */
    static final boolean COMPARE_AND_SET;
    /** Whether a monitor that the user wrote is to be told of what happens. */
    static final boolean MONITOR;
    /** Whether it asks for locks. */
    static final boolean MONITORS_LOCKS;
    /** Stands in {@link #TABLE} for a volatile field. */
    private static final int VOLATILE = -2;

    static {
        initialize();
        long[] constants = new long[12];
        constants(constants);
        TABLE = constants[0];
        CELLS = constants[1];
        COUNTERS = constants[2];
        REFINE = constants[3] != 0L;
        HAPPENS_BEFORE = constants[4] != 0L;
        FLAGS = constants[5];
        ATOMIZER = FLAGS != 0L;
        HITS = constants[6];
        RE_ENTRANT = constants[7] != 0L;
        PROTECTED = constants[8] != 0L;
        COMPARE_AND_SET = constants[9] != 0L;
        MONITOR = constants[10] != 0L;
        MONITORS_LOCKS = constants[11] != 0L;
    }

    private FissureEngine() {}

    /** Binds all other native methods; the one symbol that the JVM looks up by name. */
    private static native void initialize();

    private static native void constants(long[] out);

    /** Where the shadow of the field that a site accesses lies, if it has one. */
    static native int resolve(int site, Object object);

    static native int resolveStatic(int site);

    /** Where the words of the fields of a class's objects lie. */
    static native int[] shadows(Class<?> type);

    /**
     * The site that stands for accesses by a call to one field: that of {@code type}, if it is known, at {@code offset} in
     * {@code owner} or a superclass. 0 if it is not watched.
     */
    static native int siteOf(int call, Class<?> owner, long offset, Class<?> type, boolean isStatic);

    /** The state of a location after an access that involves more than its owner. */
    static native long step(long word, int thread, int segment, int set, int site, boolean write, Object object);

    /** Whether an access to a followed location races with one of another thread. */
    static native boolean isRacy(long word, int segment, int set, boolean write);

    /** The state of a lock after an acquire that involves more than its owner. */
    static native long stepLock(long word, int segment, int set, boolean write, int lock);

    /** A block ended that may not be atomic; gives the number of this execution, 0 if it is not kept. */
    static native int blockEnded(
            int thread, int site, int[] operations, long[] about, Object[] owners, long[] stacks, int[] inner);

    /** A block was entered that has not been counted yet. */
    static native void blockRan(int site);

    /** Remembers the stack of the current thread by a number. */
    static native void sampleBlock(long number);

    static native int addLock(int set, int lock);

    static native int intersect(int left, int right);

    static native int newLock(Object lock);

    /** Child and segment packed as two ints. */
    static native long startThread(int parent, Thread child, String name);

    /** Another thread runs methods in scope; says whether more of them are to be counted. */
    static native boolean threadRuns();

    static native int joinThread(int thread, int ended);

    static native int segmentOf(int thread);

    /** Hands over what a thread did so far, beside what was handed over before (-1 for nothing). */
    static native int release(int thread, int before);

    /** Takes over what was handed over; gives back the thread's segment from then on. */
    static native int acquire(int thread, int handed);

    /** Remembers the stack of the current thread for a site. */
    static native void sample(int thread, int site);

    /**
     * Something happened that a monitor asks about. Locks are numbers, negative for those that others may hold too. Arguments
     * are the references among what is handed over; null if they were not asked for.
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

    /** Says that an array was too large to be watched. */
    static native void arrayTooLarge();

    /** Says that something was left out because there was no memory for it. */
    static native void outOfMemory();

    /** Says that an exception ended a thread; the stack is lines of class, method, file and line number. */
    static native void failed(String thread, String exception, String message, String stack, boolean isTest);

    /**
     * Gets everything ready; called once the JVM is up. Everything that rewritten code may lead to is used once before,
     * so that a JVM on which it does not work is noticed here and not by the program.
     */
    static void begin(Thread main) {
        FissureThread.attach(main);
        Object lock = new Object();
        FissureThread.acquire(lock, FissureThread.EXCLUSIVE, 0);
        long[] array = new long[1];
        FissureArrays.access(array, 0, 0, true);
        FissureThread.release(lock);
        FissureArrays.access(array, 0, 0, false);
        FissureOrder.release(lock);
        FissureOrder.acquire(lock);
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

    /** Where a field lies in its objects, or in its class. */
    static long offset(java.lang.reflect.Field field) {
        boolean isStatic = java.lang.reflect.Modifier.isStatic(field.getModifiers());
        return isStatic ? U.staticFieldOffset(field) : U.objectFieldOffset(field);
    }

    /** Where a field of the hook classes lies in its objects. */
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

    /** An access to a field whose word the thread does not own as it stands. */
    static void field(Object object, long word, int site, boolean write) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread != null && !thread.settles(object, word, write)) {
            slowField(thread, object, site, write);
        }
    }

    static void readAt(Object object, int site) {
        if (MONITOR) {
            FissureMonitor.around(object, -1, site);
            return;
        }
        int offset = U.getInt(TABLE + ((long) site << 2));
        if (offset > 0) {
            FissureHook.read(object, U.getLong(object, (long) offset), site);
        } else if (offset == VOLATILE) {
            FissureOrder.volatileRead(object);
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
        } else if (offset == VOLATILE) {
            FissureOrder.volatileWrite(object);
        } else if (offset == 0) {
            unresolved(object, site, true);
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
        if (((word ^ Thread.currentThread().fissureRead) & FissureHook.READ_MASK) != 0L) {
            cell(cell, word, site, false);
        }
    }

    static void writeStatic(int cell, int site) {
        long word = U.getLong(CELLS + ((long) cell << 3));
        if (((word ^ Thread.currentThread().fissureWrite) & FissureHook.WRITE_MASK) != 0L) {
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
            FissureThread thread = Thread.currentThread().fissureState;
            if (thread == null || thread.busy) {
                return;
            }
            thread.busy = true;
            try {
                cell = resolveStatic(site);
            } finally {
                thread.busy = false;
            }
        }
        if (cell > 0) {
            if (write) {
                writeStatic(cell, site);
            } else {
                readStatic(cell, site);
            }
        }
    }

    private static void cell(int cell, long word, int site, boolean write) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.isQuiet() || thread.settles(null, word, write)) {
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

    /** Moves the word at {@code base + offset} on, for an access to {@code owner} that {@code set} protects. */
    static void access(
            FissureThread thread, int set, Object owner, Object base, long offset, int site, boolean write) {
        for (;;) {
            long word = U.getLongVolatile(base, offset);
            thread.isRacy = false;
            long next = next(thread, owner, word, set, site, write);
            if (next == word || U.compareAndSetLong(base, offset, word, next)) {
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
            return word(write ? EXCLUSIVE_MODIFIED : EXCLUSIVE, thread.segment, REFINE ? set : 0, site);
        }
        if (state >= DONE && !(ATOMIZER && state == FOLLOWED)) {
            return word;
        }
        if (state < SHARED) {
            if (((int) (word >>> OWNER_SHIFT) & OWNER_MASK) == thread.segment) {
                int old = (int) (word >>> SET_SHIFT) & SET_MASK;
                boolean grows = write && state == EXCLUSIVE;
                if (!grows && (!REFINE || thread.common(old, set) == old)) {
                    return word;
                }
                if (grows && (!REFINE || old == set)) {
                    thread.sample(site);
                    return word(EXCLUSIVE_MODIFIED, thread.segment, old, site);
                }
            }
        } else if (thread.knows(word, set, write)) {
            return word;
        }
        thread.sample(site);
        increment(thread.counters + 16L);
        long next = step(word, thread.id, thread.segment, set, site, write, owner);
        int after = (int) (next >>> STATE_SHIFT);
        if (after >= SHARED && after < DONE) {
            thread.learn(next, set, write, false);
        } else if (ATOMIZER && after == FOLLOWED) {
            thread.isRacy = isRacy(next, thread.segment, set, write);
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
