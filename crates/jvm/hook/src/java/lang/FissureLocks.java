package java.lang;

import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Numbers for locks, by identity and without keeping the locks alive. */
final class FissureLocks {
    static final class Numbered extends FissureTable.Entry {
        private volatile int number;
        /** For both halves of a read-write lock, the entry of the write half. */
        Numbered otherHalf;
        /** The shadow word of the lock's uses, as if the lock were a location that its acquires write. */
        volatile long users;
        /** For an atomic: the shadow word of its accesses. */
        volatile long accesses;
        /** Whether threads wait for the lock, so that it is used to signal and not only to exclude. */
        volatile boolean isGuard;

        Numbered(Object lock) {
            super(lock);
        }

        /** The lock's number, assigned on first use: many locks are only ever used by one thread and never need one. */
        int number() {
            int known = number;
            if (known != 0) {
                return known;
            }
            if (otherHalf != null && otherHalf != this) {
                return number = otherHalf.number();
            }
            synchronized (this) {
                if (number == 0) {
                    number = FissureEngine.newLock(get());
                }
                return number;
            }
        }

        /** Assigns a number under the name of another object. */
        synchronized void named(Object other) {
            if (number == 0) {
                number = FissureEngine.newLock(other);
            }
        }

        /** The entry that represents both halves of a read-write lock. */
        Numbered whole() {
            return otherHalf != null ? otherHalf : this;
        }
    }

    private static final FissureTable TABLE = new FissureTable();
    /** Whether there is a lock that threads wait for. */
    private static volatile boolean hasGuards;
    static final long USERS = FissureEngine.offset(Numbered.class, "users");
    static final long ACCESSES = FissureEngine.offset(Numbered.class, "accesses");

    private FissureLocks() {}

    static Numbered numbered(Object lock) {
        FissureTable.Entry entry = TABLE.find(lock);
        return entry != null ? (Numbered) entry : add(lock, null);
    }

    /** The object that carries the happens-before edges of a lock: the same one for both halves of a read-write lock. */
    static Object place(Object lock) {
        Numbered numbered = (Numbered) TABLE.find(lock);
        return numbered != null && numbered.otherHalf != null ? numbered.otherHalf : lock;
    }

    /**
     * Whether releasing and acquiring a lock orders accesses. A lock that threads also wait for guards a condition: a thread that
     * finds it fulfilled did not have to wait, and yet comes after the one that fulfilled it.
     */
    static boolean orders(FissureThread thread, Object lock) {
        return FissureEngine.HAPPENS_BEFORE || hasGuards && thread.recentLock(lock).whole().isGuard;
    }

    static void guard(Object lock) {
        numbered(lock).whole().isGuard = true;
        hasGuards = true;
    }

    /** Registers a new read-write lock. Both halves are one lock, held in different modes. */
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
                add(write, read).named(lock);
            }
        } finally {
            thread.busy = false;
        }
    }

    /** Records that a thread uses a lock, and under which other locks. */
    static void touch(FissureThread thread, Object lock, boolean write) {
        Numbered entry = thread.recentLock(lock).whole();
        long word = entry.users;
        if (thread.isSettled(word)) {
            return;
        }
        int state = (int) (word >>> FissureEngine.STATE_SHIFT);
        // Once the thread has acquired it without any other lock, a further acquire changes nothing.
        if (state == FissureEngine.DONE || state >= FissureEngine.SHARED && thread.knows(~word, 0, write)) {
            if (write) {
                thread.settle(word);
            }
            return;
        }
        boolean isOwn = ((int) (word >>> FissureEngine.OWNER_SHIFT) & FissureEngine.OWNER_MASK) == thread.span;
        int users = (int) (word >>> FissureEngine.SET_SHIFT) & FissureEngine.SET_MASK;
        if (isOwn && users == 0
                && (state == FissureEngine.EXCLUSIVE_MODIFIED || state == FissureEngine.EXCLUSIVE && !write)) {
            return;
        }
        thread.busy = true;
        try {
            int set = FissureEngine.PROTECTED ? thread.set(null, write) : 0;
            long next;
            do {
                word = entry.users;
                next = nextUsers(thread, word, set, write, entry);
            } while (next != word
                    && !FissureEngine.U.compareAndSetLong(entry, USERS, word, next));
        } finally {
            thread.busy = false;
        }
    }

    private static long nextUsers(
            FissureThread thread, long word, int set, boolean write, Numbered entry) {
        int state = (int) (word >>> FissureEngine.STATE_SHIFT);
        if (state == FissureEngine.DONE) {
            return word;
        }
        if (state == 0) {
            return FissureEngine.word(
                    write ? FissureEngine.EXCLUSIVE_MODIFIED : FissureEngine.EXCLUSIVE,
                    thread.span,
                    set,
                    0);
        }
        int owner = (int) (word >>> FissureEngine.OWNER_SHIFT) & FissureEngine.OWNER_MASK;
        int users = (int) (word >>> FissureEngine.SET_SHIFT) & FissureEngine.SET_MASK;
        if (state < FissureEngine.SHARED) {
            boolean grows = write && state == FissureEngine.EXCLUSIVE;
            if (owner == thread.span && !grows && thread.common(users, set) == users) {
                return word;
            }
        } else if (thread.knows(~word, set, write)) {
            return word;
        }
        long next = FissureEngine.stepLock(word, thread.span, set, write, entry.number());
        if ((int) (next >>> FissureEngine.STATE_SHIFT) >= FissureEngine.SHARED) {
            thread.learn(~next, set, write, false);
        }
        return next;
    }

    private static Numbered add(Object lock, Object otherHalf) {
        synchronized (TABLE.guard) {
            FissureTable.Entry entry = TABLE.find(lock);
            if (entry != null) {
                return (Numbered) entry;
            }
            Numbered numbered = new Numbered(lock);
            TABLE.add(numbered);
            if (otherHalf != null) {
                Numbered half = new Numbered(otherHalf);
                half.otherHalf = numbered;
                numbered.otherHalf = numbered;
                TABLE.add(half);
            }
            return numbered;
        }
    }
}
