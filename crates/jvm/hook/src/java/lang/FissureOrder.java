package java.lang;

import java.util.concurrent.CountedCompleter;

/**
 * Happens-before edges through synchronization objects: tasks, latches, elements of queues, volatile fields, monitors that threads wait
 * for. They are found by identity. Native code keeps the clocks that they pass on from thread to thread; most releases and acquires
 * pass on nothing new.
 */
final class FissureOrder {
    /** What a synchronization object passes on. */
    private static class Handed extends FissureTable.Entry {
        /** Unlike the number, never used again for another object. */
        final int serial;
        /** The number of its clock in native code; -1 until the first release. */
        private int number = -1;
        /** How often it was released. */
        volatile int version;
        /** The {@link FissureHeld#moment} of the last release. */
        long released = -1L;
        /** The same of the last release that handed something over. */
        long handed = -1L;
        /** Whether several threads have released it. */
        boolean isShared;
        /** How often code of the JDK acquired it for itself; negative once other code did. */
        int internal;

        Handed(Object token, int serial) {
            super(token);
            this.serial = serial;
        }

        @Override
        void dropped() {
            if (number >= 0) {
                FissureEngine.forget(number);
            }
        }
    }

    /** An element of collections. */
    private static final class Given extends Handed {
        /** The locks that were held whenever a thread put the element into a collection. */
        volatile int locks;

        Given(Object token, int serial) {
            super(token, serial);
        }
    }

    // What orders accesses, for reports.
    private static final int OBJECT = 0;
    private static final int VOLATILE = 1;
    private static final int MONITOR = 2;

    private static final int MOST_INTERNAL = 8;

    private static final FissureTable TABLE = new FissureTable();
    /** The numbers of what orders accesses, by class; one table for each kind. */
    private static final FissureTable[] SOURCES = {new FissureTable(), new FissureTable(), new FissureTable()};
    private static final Object CELLS_GUARD = new Object();
    /** The static volatile fields, by cell. */
    private static volatile Handed[] cells = new Handed[64];
    /** The elements that were put into collections under a lock. */
    private static final FissureTable GIVEN = new FissureTable();
    private static int staticSource;
    private static int givenSource;
    private static int serials;

    private FissureOrder() {}

    /** Everything that this thread did so far happens before a later acquire of {@code token}, which hands something over. */
    static void release(Object token) {
        release(token, true);
    }

    /** The same for a volatile field, an atomic and the like. */
    static void releaseShared(Object token) {
        release(token, false);
    }

    private static void release(Object token, boolean handsOver) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (token == null || thread == null || thread.busy || !FissureThread.isConcurrent) {
            return;
        }
        thread.busy = true;
        try {
            release(thread, find(token), handsOver);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            thread.busy = false;
        }
    }

    /** {@code via} is the object that a report names: a collection for one of its elements. */
    static void acquire(Object token, Object via) {
        acquire(token, via, OBJECT, true);
    }

    /** The same for the state of a synchronizer, which is an atomic. */
    static void acquireState(Object synchronizer) {
        acquire(synchronizer, synchronizer, OBJECT, false);
    }

    /**
     * The same for state that the JDK uses for itself, too. Only an acquire that would add to the order is checked, and only until it
     * is clear whose state it is.
     */
    static void acquireShared(Object token, Object via) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (token == null || thread == null || thread.busy || !FissureThread.isConcurrent) {
            return;
        }
        Handed handed = (Handed) TABLE.find(token);
        if (handed == null || handed.internal > MOST_INTERNAL || isKnown(thread, handed, false)) {
            return;
        }
        if (handed.internal >= 0) {
            if (!FissureEngine.isCalledFromOutside()) {
                handed.internal++;
                return;
            }
            handed.internal = -1;
        }
        acquire(token, via, OBJECT, false);
    }

    static void acquireLock(Object lock) {
        acquire(FissureLocks.place(lock), lock, MONITOR, false);
    }

    /** Volatile fields of one object are not distinguished: that may add happens-before edges, and never loses one. */
    static void volatileRead(Object object) {
        acquire(object, object, VOLATILE, false);
    }

    static void volatileWrite(Object object) {
        release(object, false);
    }

    static void volatileReadStatic(int cell) {
        FissureThread thread = Thread.currentThread().fissureState;
        Handed[] known = cells;
        if (thread == null || thread.busy || cell >= known.length || known[cell] == null) {
            return;
        }
        thread.busy = true;
        try {
            if (staticSource == 0) {
                staticSource = FissureEngine.newSource("a static volatile field");
            }
            acquire(thread, known[cell], staticSource, false);
        } finally {
            thread.busy = false;
        }
    }

    static void volatileWriteStatic(int cell) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.busy || !FissureThread.isConcurrent) {
            return;
        }
        thread.busy = true;
        try {
            release(thread, cell(cell), false);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            thread.busy = false;
        }
    }

    /**
     * An element is about to be put into a collection that may not be thread-safe. The actions of a thread before this happen before
     * those of another after it got the element, if both hold a common lock.
     */
    static void gives(Object element) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.busy || thread.heldLocks() == 0 || !FissureThread.isConcurrent || isValue(element)) {
            return;
        }
        thread.busy = true;
        try {
            int locks = thread.set(null, true);
            if (locks != 0) {
                Given given = given(element);
                synchronized (given) {
                    given.locks = given.version == 0 ? locks : thread.common(given.locks, locks);
                }
                release(thread, given, true);
            }
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            thread.busy = false;
        }
    }

    /** An element was got from a collection. */
    static void takes(Object element) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.busy || thread.heldLocks() == 0 || !FissureThread.isConcurrent || isValue(element)) {
            return;
        }
        Given given = (Given) GIVEN.find(element);
        if (given == null || isKnown(thread, given, true)) {
            return;
        }
        thread.busy = true;
        try {
            if (thread.common(given.locks, thread.set(null, false)) != 0) {
                if (givenSource == 0) {
                    givenSource = FissureEngine.newSource("a collection under a lock");
                }
                acquire(thread, given, givenSource, true);
            }
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            thread.busy = false;
        }
    }

    /** A part of a larger task is done: it happens before the continuation of every thread that waits for the whole. */
    static void completes(Object task) {
        release(((CountedCompleter<?>) task).getRoot());
    }

    /** Whether the class of a synchronizer is the JDK's: its locks only exclude, and the calls of its other synchronizers are known. */
    static boolean isOfTheJdk(Object synchronizer) {
        return synchronizer.getClass().getModule() == Object.class.getModule();
    }

    /** Uses everything once, so that an unsupported JVM fails early. */
    static void tryAll(Object token) {
        boolean wasConcurrent = FissureThread.isConcurrent;
        FissureThread.isConcurrent = true;
        release(token);
        acquire(token, token);
        volatileWriteStatic(0);
        volatileReadStatic(0);
        isOfTheJdk(token);
        acquireShared(token, token);
        FissureEngine.isCalledFromOutside();
        gives(token);
        takes(token);
        given(token);
        FissureThread.guards(token);
        FissureThread.isConcurrent = wasConcurrent;
    }

    private static void acquire(Object token, Object via, int kind, boolean handsOver) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (token == null || thread == null || thread.busy || !FissureThread.isConcurrent) {
            return;
        }
        Handed handed = (Handed) TABLE.find(token);
        if (handed == null || isKnown(thread, handed, handsOver)) {
            return;
        }
        thread.busy = true;
        try {
            acquire(thread, handed, source(via.getClass(), kind), handsOver);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            thread.busy = false;
        }
    }

    /** Whether an acquire adds nothing, as far as that is known without native code. */
    private static boolean isKnown(FissureThread thread, Handed handed, boolean handsOver) {
        int version = handed.version;
        return version == 0
                || thread.hasAcquired(handed.serial, version, handsOver)
                || !handed.isShared && thread.knowsMoment(handed.released, handsOver);
    }

    private static void acquire(FissureThread thread, Handed handed, int source, boolean handsOver) {
        int version = handed.version;
        long released = handed.released;
        if (version == 0 || thread.hasAcquired(handed.serial, version, handsOver)) {
            return;
        }
        int segment = FissureEngine.acquire(thread.id, handed.number, source, handsOver, thread.hasAccesses);
        thread.acquires(handed.serial, version, handsOver);
        thread.learnsMoment(released, handsOver);
        if (segment >= 0) {
            thread.learns(segment);
        }
    }

    private static void release(FissureThread thread, Handed handed, boolean handsOver) {
        if (handed.released == thread.moment() && (!handsOver || handed.handed == handed.released)) {
            return;
        }
        synchronized (handed) {
            long both = FissureEngine.release(thread.id, handed.number, handsOver, thread.hasAccesses);
            if (both < 0L) {
                return;
            }
            handed.number = (int) (both >>> 32);
            thread.moveTo((int) both);
            long moment = thread.moment();
            handed.isShared |= handed.version > 0 && handed.released >>> 32 != moment >>> 32;
            handed.released = moment;
            if (handsOver) {
                handed.handed = moment;
            }
            handed.version++;
        }
    }

    private static Handed find(Object token) {
        FissureTable.Entry entry = TABLE.find(token);
        if (entry != null) {
            return (Handed) entry;
        }
        synchronized (TABLE.guard) {
            entry = TABLE.find(token);
            if (entry == null) {
                entry = new Handed(token, ++serials);
                TABLE.add(entry);
            }
            return (Handed) entry;
        }
    }

    /** Whether an element has no state that a thread could hand over. */
    private static boolean isValue(Object element) {
        return element == null
                || element instanceof String
                || element instanceof Number
                || element instanceof Boolean
                || element instanceof Character
                || element instanceof Enum;
    }

    private static Given given(Object element) {
        FissureTable.Entry entry = GIVEN.find(element);
        if (entry != null) {
            return (Given) entry;
        }
        synchronized (GIVEN.guard) {
            entry = GIVEN.find(element);
            if (entry == null) {
                synchronized (TABLE.guard) {
                    entry = new Given(element, ++serials);
                }
                GIVEN.add(entry);
            }
            return (Given) entry;
        }
    }

    private static Handed cell(int cell) {
        Handed[] known = cells;
        if (cell < known.length && known[cell] != null) {
            return known[cell];
        }
        synchronized (CELLS_GUARD) {
            known = cells;
            if (cell >= known.length) {
                Handed[] more = new Handed[Math.max(cell + 1, known.length * 2)];
                System.arraycopy(known, 0, more, 0, known.length);
                known = more;
            }
            if (known[cell] == null) {
                synchronized (TABLE.guard) {
                    known[cell] = new Handed(CELLS_GUARD, ++serials);
                }
            }
            cells = known;
            return known[cell];
        }
    }

    private static int source(Class<?> type, int kind) {
        FissureTable table = SOURCES[kind];
        FissureTable.Entry entry = table.find(type);
        if (entry != null) {
            return ((FissureTable.Numbered) entry).number;
        }
        synchronized (table.guard) {
            entry = table.find(type);
            if (entry == null) {
                String name = type.getName();
                if (kind == VOLATILE) {
                    name = "a volatile field of ".concat(name);
                } else if (kind == MONITOR && !java.util.concurrent.locks.Lock.class.isAssignableFrom(type)) {
                    name = "the monitor of ".concat(name);
                }
                entry = new FissureTable.Numbered(type, FissureEngine.newSource(name));
                table.add(entry);
            }
            return ((FissureTable.Numbered) entry).number;
        }
    }
}
