package java.lang;

import java.util.concurrent.CountedCompleter;

/** Happens-before edges through synchronizers, tasks and elements of queues, which are found by identity. */
final class FissureOrder {
    private static final class Handed extends FissureTable.Entry {
        /** The released segment that the next acquire joins; -1 for none. */
        int segment = -1;

        Handed(Object token) {
            super(token);
        }
    }

    private static final FissureTable TABLE = new FissureTable();

    private FissureOrder() {}

    /** Everything that this thread did so far happens before a later acquire of {@code token}. */
    static void release(Object token) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (token == null || thread == null || thread.busy) {
            return;
        }
        thread.busy = true;
        try {
            Handed handed = find(token);
            synchronized (handed) {
                handed.segment = FissureEngine.release(thread.id, handed.segment);
            }
            thread.moveTo(FissureEngine.segmentOf(thread.id));
        } finally {
            thread.busy = false;
        }
    }

    static void acquire(Object token) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (token == null || thread == null || thread.busy) {
            return;
        }
        thread.busy = true;
        try {
            Handed handed = (Handed) TABLE.find(token);
            if (handed != null) {
                int segment;
                synchronized (handed) {
                    segment = handed.segment;
                }
                thread.moveTo(FissureEngine.acquire(thread.id, segment));
            }
        } finally {
            thread.busy = false;
        }
    }

    /** Volatile fields of one object are not distinguished: that may add happens-before edges, and never loses one. */
    static void volatileRead(Object object) {
        acquire(object);
    }

    static void volatileWrite(Object object) {
        release(object);
    }

    /** A part of a larger task is done: it happens before the continuation of every thread that waits for the whole. */
    static void completes(Object task) {
        release(((CountedCompleter<?>) task).getRoot());
    }

    private static Handed find(Object token) {
        FissureTable.Entry entry = TABLE.find(token);
        if (entry != null) {
            return (Handed) entry;
        }
        synchronized (TABLE.guard) {
            entry = TABLE.find(token);
            if (entry == null) {
                entry = new Handed(token);
                TABLE.add(entry);
            }
            return (Handed) entry;
        }
    }
}
