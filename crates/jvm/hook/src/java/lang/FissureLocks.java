package java.lang;

import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Numbers for locks: exact, and without keeping the locks alive. */
final class FissureLocks {
    static final class Numbered extends FissureTable.Entry {
        final int number;
        /** For the read half of a read-write lock, the entry of the other half. */
        Numbered otherHalf;

        Numbered(Object lock, int number) {
            super(lock);
            this.number = number;
        }
    }

    private static final FissureTable TABLE = new FissureTable();

    private FissureLocks() {}

    static Numbered numbered(Object lock) {
        FissureTable.Entry entry = TABLE.find(lock);
        return entry != null ? (Numbered) entry : add(lock, null, lock);
    }

    /** What stands for a lock where threads hand over to each other: the same for both halves of a read-write lock. */
    static Object place(Object lock) {
        Numbered numbered = (Numbered) TABLE.find(lock);
        return numbered != null && numbered.otherHalf != null ? numbered.otherHalf : lock;
    }

    /** Both halves of a read-write lock are one lock, held in different modes. */
    static void readWriteLock(Object lock) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.busy) {
            return;
        }
        thread.busy = true;
        try {
            Object write = ((ReentrantReadWriteLock) lock).writeLock();
            Object read = ((ReentrantReadWriteLock) lock).readLock();
            if (write != null && read != null) {
                add(write, read, lock);
            }
        } finally {
            thread.busy = false;
        }
    }

    private static Numbered add(Object lock, Object otherHalf, Object name) {
        synchronized (TABLE.guard) {
            FissureTable.Entry entry = TABLE.find(lock);
            if (entry != null) {
                return (Numbered) entry;
            }
            Numbered numbered = new Numbered(lock, FissureEngine.newLock(name));
            TABLE.add(numbered);
            if (otherHalf != null) {
                Numbered half = new Numbered(otherHalf, numbered.number);
                half.otherHalf = numbered;
                numbered.otherHalf = numbered;
                TABLE.add(half);
            }
            return numbered;
        }
    }
}
