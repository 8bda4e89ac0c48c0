package java.lang;

/**
 * The active blocks of a thread that should be atomic (Atomizer), and a log of the operations in them that are not both-movers. The
 * analysis crate's {@code reduction} module describes the algorithm.
 *
 * <p>Nested blocks share one log. When a block ends, its part of the log is checked as if every lock were shared; native code gets
 * the log only if it breaks the pattern of reduction and the same log was not sent before.
 */
final class FissureBlocks {
    // The kinds of operations; native code uses the same numbers.
    static final int ACQUIRE = 0;
    static final int RELEASE = 1;
    static final int ACQUIRE_AGAIN = 2;
    static final int RELEASE_AGAIN = 3;
    static final int WAIT = 4;
    static final int ACCESS = 5;
    static final int START = 6;
    static final int JOIN = 7;
    /** An access that does not race so far. */
    static final int ACCESS_SO_FAR = 8;
    /** An access that stands for a read and a write, of which only the write races. */
    static final int WRITE_ONLY = 9;

    /** In the details of an access: it writes. */
    private static final long WRITES = 1L << 30;
    /** In the details of an access: so far only this thread has accessed the location, without any lock. */
    private static final long MAY_INITIALISE = 1L << 29;

    private static final int SITE_BITS = 20;
    private static final int SITE_MASK = (1 << SITE_BITS) - 1;

    // The flags of a site, one byte each.
    private static final int APPLICATION = 1;
    private static final int LIBRARY = 2;
    /** The access stands for several. */
    private static final int MANIFOLD = 4;
    private static final int RAN = 8;
    /** It is known whether the site {@link #SYNCHRONIZES}. */
    private static final int CLASSIFIED = 16;
    /** The site accesses a volatile field or an atomic. */
    private static final int SYNCHRONIZES = 32;
    /** The access writes and also stands for a read. */
    private static final int WITH_READ = 64;
    /** The access also stands for another write. */
    private static final int WITH_WRITE = 128;
    /** Offset behind the flags: per site, the number of executions of its block in which accesses that do not race were logged. */
    private static final long NOTED = 1L << SITE_BITS;
    private static final int OFTEN_ENOUGH = 16;

    /** A log that reaches this length is judged, and a new one begun. */
    private static final int LONGEST = 1024;
    private static final int MOST_INNER = 64;
    private static final int MEMO = 64;
    private static final int MOST_SAMPLED = 1 << 12;
    /** The caller is checked at this many first entries of library blocks, and then exponentially less often. */
    private static final int OFTEN = 64;

    private final FissureThread thread;

    /** The active blocks, the outermost first. */
    private int[] sites = new int[8];
    private int[] starts = new int[8];
    private int[] innerStarts = new int[8];
    /** The lock that a block is synchronized on; null for a method that should be atomic for another reason. */
    private Object[] ownLocks = new Object[8];
    private boolean[] exempt = new boolean[8];
    /** Whether accesses that do not race so far are logged. */
    private boolean[] notes = new boolean[8];
    private int depth;

    private Object[] objects = new Object[32];
    private int[] operations = new int[32];
    private long[] samples = new long[32];
    /** The segment; for accesses also the lock set and {@link #WRITES}. */
    private long[] details = new long[32];
    private int count;

    /** The numbers of the executions of inner blocks that native code keeps. */
    private final int[] inner = new int[MOST_INNER];
    private int innerCount;

    private final long[] memoKeys = new long[MEMO];
    private final int[] memoNumbers = new int[MEMO];
    private long[] sampled = new long[64];
    private int sampledCount;
    private int libraryEntries;

    FissureBlocks(FissureThread thread) {
        this.thread = thread;
    }

    /** Whether a site begins a block. */
    static boolean isBlock(int site) {
        return (flags(site) & (APPLICATION | LIBRARY)) != 0;
    }

    boolean isActive() {
        return depth > 0;
    }

    /** Enters a block: either one that is synchronized on a lock, which is about to be acquired, or a whole method. */
    void enter(int site, Object lock) {
        if (depth == sites.length) {
            grow();
        }
        int flags = flags(site);
        if ((flags & RAN) != 0) {
            FissureEngine.increment(thread.counters + 24L);
        } else if ((flags & APPLICATION) != 0 || checksCaller()) {
            FissureEngine.blockRan(site);
            FissureEngine.increment(thread.counters + 24L);
        }
        sites[depth] = site;
        starts[depth] = count;
        innerStarts[depth] = innerCount;
        ownLocks[depth] = lock;
        exempt[depth] = false;
        notes[depth] = depth > 0 && notes[depth - 1] || logsAccesses(site);
        depth++;
    }

    /** Exits the innermost block that is synchronized on a lock, and all blocks inside of it, whose exits were not reported. */
    void exit(Object lock) {
        int at = depth - 1;
        while (at >= 0 && ownLocks[at] != lock) {
            at--;
        }
        if (at >= 0) {
            leave(at);
        }
    }

    void exitMethod() {
        exit(null);
    }

    /** The thread is about to wait on a lock, so that the blocks of that lock are not intended to be atomic. */
    void waits(Object lock) {
        for (int at = 0; at < depth; at++) {
            if (ownLocks[at] == lock) {
                exempt[at] = true;
            }
        }
    }

    /** Whether accesses that do not race so far are logged in the active blocks. */
    boolean isNoting() {
        return depth > 0 && notes[depth - 1];
    }

    /**
     * Logs an access that does not race so far. In most programs a block accesses a shared location for the first time before any
     * other thread does, so that a race shows only later.
     */
    void logSoFar(Object owner, int site, int set, boolean write, boolean mayInitialise) {
        long more = set | (mayInitialise ? MAY_INITIALISE : 0L);
        logAccess(ACCESS_SO_FAR, owner, site, write, more);
    }

    /** Logs an access that races; its owner matters only for atomics. */
    void logAccess(int kind, Object owner, int site, boolean write) {
        logAccess(kind, owner, site, write, 0L);
    }

    private void logAccess(int kind, Object owner, int site, boolean write, long detail) {
        int at = count;
        log(kind, owner, site);
        if (count == at + 1) {
            details[at] |= detail | (write ? WRITES : 0L);
        }
    }

    /**
     * Drops the last read of an atomic before a compare-and-set of it. That read is a mover: if the compare-and-set succeeds, no
     * thread has changed the value since, and if it fails, the attempt had no effect.
     */
    void forgetRead(Object atomic) {
        for (int at = count - 1; depth > 0 && at >= starts[depth - 1]; at--) {
            int kind = operations[at] >>> SITE_BITS;
            if (objects[at] == atomic && (kind == ACCESS || kind == ACCESS_SO_FAR)) {
                if ((details[at] & WRITES) == 0L) {
                    drop(at);
                }
                return;
            }
        }
    }

    private void drop(int at) {
        count--;
        int length = count - at;
        System.arraycopy(objects, at + 1, objects, at, length);
        System.arraycopy(operations, at + 1, operations, at, length);
        System.arraycopy(samples, at + 1, samples, at, length);
        System.arraycopy(details, at + 1, details, at, length);
        objects[count] = null;
    }

    static boolean isClassified(int site) {
        return (flags(site) & CLASSIFIED) != 0;
    }

    /** Whether a site is known to access a volatile field or an atomic. */
    static boolean synchronizes(int site) {
        return (flags(site) & SYNCHRONIZES) != 0;
    }

    /** Whether a write also stands for a read. */
    static boolean isWithRead(int site) {
        return (flags(site) & WITH_READ) != 0;
    }

    /** Logs an operation inside of the active blocks. */
    void log(int kind, Object object, int site) {
        if (depth == 0) {
            return;
        }
        int operation = kind << SITE_BITS | site;
        if ((kind == ACCESS || kind == WRITE_ONLY) && repeats(operation)) {
            return;
        }
        if (count == objects.length && !makeRoom()) {
            return;
        }
        objects[count] = object;
        operations[count] = operation;
        samples[count] = sample(operation);
        details[count] = (long) thread.span << 32;
        count++;
        if (kind == RELEASE) {
            collapse(object);
        }
    }

    private static int flags(int site) {
        return FissureEngine.U.getByte(FissureEngine.FLAGS + site);
    }

    /** Whether to check who called a block of a library. */
    private boolean checksCaller() {
        int entries = ++libraryEntries;
        return entries < OFTEN || (entries & entries - 1) == 0;
    }

    private static boolean logsAccesses(int site) {
        long address = FissureEngine.FLAGS + NOTED + site;
        int noted = FissureEngine.U.getByte(address);
        if (noted < OFTEN_ENOUGH) {
            FissureEngine.U.putByte(address, (byte) (noted + 1));
        }
        return noted < OFTEN_ENOUGH;
    }

    private void leave(int at) {
        int number = exempt[at] ? 0 : judge(at);
        depth = at;
        if (at == 0) {
            for (int i = 0; i < count; i++) {
                objects[i] = null;
            }
            count = 0;
            innerCount = 0;
        } else {
            keepInner(at, number);
        }
        ownLocks[at] = null;
    }

    /** Judges an execution of a block. Returns the number under which native code keeps it; 0 if it is not kept. */
    private int judge(int at) {
        int start = starts[at];
        if (count - start < 1 || !breaks(start)) {
            return 0;
        }
        long key = (long) thread.span << 32 | sites[at];
        for (int i = start; i < count; i++) {
            key = (key ^ operations[i]) * 0x9E3779B97F4A7C15L;
            key ^= key >>> 29;
            if (objects[i] != null) {
                key = (key ^ System.identityHashCode(objects[i])) * 0x9E3779B97F4A7C15L;
            }
        }
        int slot = (int) (key >>> 58);
        int number;
        if (memoKeys[slot] == key) {
            number = memoNumbers[slot];
        } else {
            number = send(at, start);
            memoKeys[slot] = key;
            memoNumbers[slot] = number;
        }
        if (number > 0) {
            FissureEngine.increment(FissureEngine.HITS + ((long) number << 3));
        }
        return number;
    }

    private int send(int at, int start) {
        boolean wasBusy = thread.busy;
        thread.busy = true;
        try {
            int length = count - start;
            int[] what = new int[length];
            Object[] owners = new Object[length];
            long[] about = new long[length];
            long[] stacks = new long[length];
            for (int i = 0; i < length; i++) {
                what[i] = operations[start + i];
                stacks[i] = samples[start + i];
                if (isOfLock(what[i])) {
                    about[i] = details[start + i] | FissureLocks.numbered(objects[start + i]).number();
                } else if (what[i] >>> SITE_BITS == ACCESS_SO_FAR) {
                    owners[i] = objects[start + i];
                    about[i] = details[start + i];
                }
            }
            int inside = innerCount - innerStarts[at];
            int[] numbers = new int[inside];
            System.arraycopy(inner, innerStarts[at], numbers, 0, inside);
            return FissureEngine.blockEnded(thread.id, sites[at], what, about, owners, stacks, numbers);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
            return 0;
        } finally {
            thread.busy = wasBusy;
        }
    }

    private static boolean isOfLock(int operation) {
        return operation >>> SITE_BITS <= WAIT;
    }

    /** Whether the log from {@code start} on breaks the pattern of reduction if every lock is shared. */
    private boolean breaks(int start) {
        boolean committed = false;
        for (int i = start; i < count; i++) {
            switch (operations[i] >>> SITE_BITS) {
                case ACQUIRE:
                case ACQUIRE_AGAIN:
                case JOIN:
                    if (committed) {
                        return true;
                    }
                    break;
                case ACCESS:
                case ACCESS_SO_FAR:
                    if (committed || (flags(operations[i] & SITE_MASK) & MANIFOLD) != 0) {
                        return true;
                    }
                    committed = true;
                    break;
                case WRITE_ONLY:
                    if (committed || (flags(operations[i] & SITE_MASK) & WITH_WRITE) != 0) {
                        return true;
                    }
                    committed = true;
                    break;
                case WAIT:
                    return true;
                default:
                    committed = true;
            }
        }
        return false;
    }

    /** Whether an access is at least the third of its kind in a row: two are enough to break the pattern. */
    private boolean repeats(int operation) {
        return count - starts[depth - 1] >= 2
                && operations[count - 1] == operation
                && operations[count - 2] == operation;
    }

    /** Drops the operations since a lock was acquired if the same ones were logged twice just before, as in a loop. */
    private void collapse(Object lock) {
        int begin = count - 2;
        while (begin >= starts[depth - 1]
                && (objects[begin] != lock || operations[begin] >>> SITE_BITS != ACQUIRE)) {
            begin--;
        }
        int length = count - begin;
        if (begin - 2 * length < starts[depth - 1]) {
            return;
        }
        for (int i = 0; i < length; i++) {
            int here = begin + i;
            if (operations[here] != operations[here - length]
                    || operations[here] != operations[here - 2 * length]
                    || objects[here] != objects[here - length]
                    || objects[here] != objects[here - 2 * length]) {
                return;
            }
        }
        for (int i = begin; i < count; i++) {
            objects[i] = null;
        }
        count = begin;
    }

    /** Grows the log, or judges the active blocks and begins a new log. */
    private boolean makeRoom() {
        if (count < LONGEST) {
            try {
                int size = count * 2;
                Object[] moreObjects = new Object[size];
                int[] moreOperations = new int[size];
                long[] moreSamples = new long[size];
                long[] moreDetails = new long[size];
                System.arraycopy(objects, 0, moreObjects, 0, count);
                System.arraycopy(operations, 0, moreOperations, 0, count);
                System.arraycopy(samples, 0, moreSamples, 0, count);
                System.arraycopy(details, 0, moreDetails, 0, count);
                objects = moreObjects;
                operations = moreOperations;
                samples = moreSamples;
                details = moreDetails;
                return true;
            } catch (OutOfMemoryError error) {
                FissureEngine.outOfMemory();
                return false;
            }
        }
        for (int at = depth - 1; at >= 0; at--) {
            keepInner(at, exempt[at] ? 0 : judge(at));
        }
        // All active blocks restart with an empty log and no inner executions: native code has the judged ones.
        for (int at = 0; at < depth; at++) {
            starts[at] = 0;
            innerStarts[at] = 0;
        }
        innerCount = 0;
        for (int i = 0; i < count; i++) {
            objects[i] = null;
        }
        count = 0;
        return true;
    }

    /** Replaces the executions inside of a block by that of the block itself, if native code keeps it. */
    private void keepInner(int at, int number) {
        if (number > 0) {
            innerCount = innerStarts[at];
            if (innerCount < MOST_INNER) {
                inner[innerCount++] = number;
            }
        }
    }

    private void grow() {
        int size = depth * 2;
        int[] moreSites = new int[size];
        int[] moreStarts = new int[size];
        int[] moreInnerStarts = new int[size];
        Object[] moreLocks = new Object[size];
        boolean[] moreExempt = new boolean[size];
        boolean[] moreNotes = new boolean[size];
        System.arraycopy(sites, 0, moreSites, 0, depth);
        System.arraycopy(starts, 0, moreStarts, 0, depth);
        System.arraycopy(innerStarts, 0, moreInnerStarts, 0, depth);
        System.arraycopy(ownLocks, 0, moreLocks, 0, depth);
        System.arraycopy(exempt, 0, moreExempt, 0, depth);
        System.arraycopy(notes, 0, moreNotes, 0, depth);
        notes = moreNotes;
        sites = moreSites;
        starts = moreStarts;
        innerStarts = moreInnerStarts;
        ownLocks = moreLocks;
        exempt = moreExempt;
    }

    /** The number of the stack of an operation: one stack is sampled per operation and nesting of blocks. */
    private long sample(int operation) {
        long key = ((long) thread.id << 32 | operation) * 0x9E3779B97F4A7C15L;
        key = (key ^ key >>> 31 ^ sites[0]) * 0xBF58476D1CE4E5B9L;
        key = (key ^ key >>> 27 ^ sites[depth - 1]) * 0x94D049BB133111EBL | 1L;
        int slot = (int) (key >>> 33) & sampled.length - 1;
        while (sampled[slot] != 0L) {
            if (sampled[slot] == key) {
                return key;
            }
            slot = slot + 1 & sampled.length - 1;
        }
        if (sampledCount < MOST_SAMPLED) {
            boolean wasBusy = thread.busy;
            thread.busy = true;
            try {
                sampled[slot] = key;
                sampledCount++;
                if (sampledCount * 2 > sampled.length) {
                    rehash();
                }
                FissureEngine.sampleBlock(key);
            } catch (OutOfMemoryError error) {
                FissureEngine.outOfMemory();
            } finally {
                thread.busy = wasBusy;
            }
        }
        return key;
    }

    private void rehash() {
        long[] old = sampled;
        long[] larger = new long[old.length * 2];
        for (int i = 0; i < old.length; i++) {
            if (old[i] != 0L) {
                int slot = (int) (old[i] >>> 33) & larger.length - 1;
                while (larger[slot] != 0L) {
                    slot = slot + 1 & larger.length - 1;
                }
                larger[slot] = old[i];
            }
        }
        sampled = larger;
    }
}
