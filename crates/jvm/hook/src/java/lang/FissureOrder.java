package java.lang;

import java.util.concurrent.CountedCompleter;

/** What one thread hands over to another at a synchronizer, a task or an element of a queue, found by identity. */
final class FissureOrder {
    private static final class Handed extends FissureTable.Entry {
        /** The segment that whoever comes here takes over; -1 for none. */
        int segment = -1;

        Handed(Object place) {
            super(place);
        }
    }

    private static final FissureTable TABLE = new FissureTable();

    private FissureOrder() {}

    /** Everything this thread did so far comes before what others do after they have acquired from {@code place}. */
    static void release(Object place) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (place == null || thread == null || thread.busy) {
            return;
        }
        thread.busy = true;
        try {
            Handed handed = find(place);
            synchronized (handed) {
                handed.segment = FissureEngine.release(thread.id, handed.segment);
            }
            thread.moveTo(FissureEngine.segmentOf(thread.id));
        } finally {
            thread.busy = false;
        }
    }

    static void acquire(Object place) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (place == null || thread == null || thread.busy) {
            return;
        }
        thread.busy = true;
        try {
            Handed handed = (Handed) TABLE.find(place);
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

    /** Volatile fields of one object are not told apart: that may order too much, never too little. */
    static void volatileRead(Object object) {
        acquire(object);
    }

    static void volatileWrite(Object object) {
        release(object);
    }

    /** A part of a larger task is done: whoever waits for the whole comes after it. */
    static void completes(Object task) {
        release(((CountedCompleter<?>) task).getRoot());
    }

    private static Handed find(Object place) {
        FissureTable.Entry entry = TABLE.find(place);
        if (entry != null) {
            return (Handed) entry;
        }
        synchronized (TABLE.guard) {
            entry = TABLE.find(place);
            if (entry == null) {
                entry = new Handed(place);
                TABLE.add(entry);
            }
            return (Handed) entry;
        }
    }
}
