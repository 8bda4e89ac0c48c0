package java.lang;

/**
 * The locks that one thread holds, and the lock sets and words that follow from them. The caches are there because the analysis in
 * native code computes the same sets and verdicts again and again.
 */
abstract class FissureHeld {
    static final byte EXCLUSIVE = 0;
    static final byte SHARED = 1;
    static final byte OPTIMISTIC = 2;

    /** The number that stands for the accessed object's own lock. */
    private static final int SELF = 1;
    private static final int MEMO = 64;
    /** The first entries of {@link Thread#fissureSettled} for reads and for writes. */
    static final int READS = 0;
    static final int WRITES = 128;
    private static final int SETTLED = WRITES;
    private static final int SITE_MASK = (1 << FissureEngine.SET_SHIFT) - 1;
    /** In the cached verdicts of the analysis: such an access races. */
    private static final int RACY = 1 << 30;
    private static final int RECENT_LOCKS = 512;

    // There may be hundreds of thousands of threads, so that they share empty arrays until they need their own.
    private static final Object[] NO_LOCKS = {};
    private static final byte[] NO_MODES = {};
    private static final int[] NO_SITES = {};
    private static final boolean[] NO_GUARDS = {};
    private static final int[] NO_SETS = {0};

    final int id;
    /** The segment of the thread, which owns the locations that only it accesses. */
    int segment;
    /** The segment in the order by start and join alone. */
    int span;
    /** Whether locations are stamped with the current segment. */
    boolean hasAccesses;
    /** Changes whenever a release would pass on more than the one before. */
    private int version;
    /** How many segments the thread has had. */
    private int segments;
    /** Whether the access that was checked last races. */
    boolean isRacy;
    /** The blocks that this thread is in; null until the first one. */
    FissureBlocks blocks;

    Object[] locks = NO_LOCKS;
    byte[] modes = NO_MODES;
    /** The sites of the acquires, with {@link FissureThread#AGAIN} and {@link FissureThread#BLOCK}; only if atomicity is checked. */
    int[] sites = NO_SITES;
    /** Whether releases of the held locks order accesses. */
    boolean[] guards = NO_GUARDS;
    int depth;
    /** Lock sets for reads and writes by number of locks held, valid up to {@link #clean}. */
    private int[] readSets = NO_SETS;
    private int[] writeSets = NO_SETS;
    /** The number of locks, outermost first, whose lock sets and words are known. */
    int clean;

    /** The lock whose number was looked up last: programs often acquire the same lock repeatedly. */
    private FissureLocks.Numbered lastLock;
    private final int selfOnly = FissureEngine.addLock(0, SELF);
    /** A cache by identity. */
    private FissureLocks.Numbered[] recentLocks;
    /** The word of the uses of the lock that was settled last: many locks have the same. */
    private long settledUsers = -1L;
    // Caches of lock-set operations and verdicts, allocated on first use: there may be a hundred thousand threads that do little.
    private long[] sumKeys;
    private int[] sums;
    private long[] commonKeys;
    private int[] commons;
    private long[] known;
    private int[] knownSets;
    /**
     * Words of locations, all bits of the site set, that an access by this thread in its current segment and without any lock does not
     * change. It is available to the hooks as {@link Thread#fissureSettled} while the thread holds no lock.
     */
    long[] settled;
    /** How the words of locations changed last, see {@link #stepAsBefore}: the word, the access, the next word. */
    private long[] steps;
    /** The version of this thread at each of these steps. */
    private int[] stepVersions;
    /** The synchronization objects acquired last, with the version of what they passed on. */
    private long[] acquired;
    /** By thread, a {@link #moment} of it that this thread knows all about. */
    private long[] moments;

    FissureHeld(int id, int segment) {
        this.id = id;
        this.segment = segment;
    }

    int heldLocks() {
        return depth;
    }

    /** Whether the thread's words reflect all locks that it holds. */
    boolean isClean() {
        return clean == depth;
    }

    /** The number of a held lock, negative if it is held in shared mode. */
    int lockNumber(int at) {
        int number = recentLock(locks[at]).number();
        return modes[at] == EXCLUSIVE ? number : -number;
    }

    /**
     * Whether an access leaves a location's word unchanged, as far as that can be decided without a lookup: for locations that the
     * innermost lock protects, and for shared ones with a cached verdict of the analysis.
     */
    boolean settles(Object object, long word, boolean write) {
        int state = (int) (word >>> FissureEngine.STATE_SHIFT);
        if (state >= FissureEngine.DONE && !(FissureEngine.ATOMIZER && state == FissureEngine.FOLLOWED)) {
            return true;
        }
        int depth = this.depth;
        int set;
        if (depth > 0 && object != null && locks[depth - 1] == object) {
            if (clean < depth - 1 || modes[depth - 1] != EXCLUSIVE) {
                return false;
            }
            int below = write ? writeSets[depth - 1] : readSets[depth - 1];
            set = below == 0 ? selfOnly : sum(below, SELF);
        } else {
            if (clean < depth && !settleTop()) {
                return false;
            }
            for (int at = depth - 2; at >= 0; at--) {
                if (locks[at] == object) {
                    return false;
                }
            }
            set = write ? writeSets[depth] : readSets[depth];
        }
        if (state >= FissureEngine.SHARED) {
            // A repeated access in a block counts twice if it races, now or later.
            return knows(word, set, write)
                    && !(FissureEngine.ATOMIZER
                            && blocks != null
                            && (isRacy ? blocks.isActive() : blocks.isNoting()));
        }
        int locationSet = (int) (word >>> FissureEngine.SET_SHIFT) & FissureEngine.SET_MASK;
        if (locationSet != (FissureEngine.REFINE ? set : 0)) {
            return false;
        }
        int owner = (int) (word >>> FissureEngine.OWNER_SHIFT) & FissureEngine.OWNER_MASK;
        if (state == FissureEngine.EXCLUSIVE_MODIFIED) {
            return owner == segment || !write && stampsItself(owner);
        }
        return owner == segment && state == FissureEngine.EXCLUSIVE && !write;
    }

    /** Whether a word is among those that the thread's accesses do not change. */
    static boolean isSettled(long[] settled, long word, int kind) {
        return settled != null
                && settled[((int) (word >>> FissureEngine.OWNER_SHIFT) & SETTLED - 1) + kind] == (word | SITE_MASK);
    }

    /** Like {@link #settles}; the answer is remembered for the hooks if it depends on nothing but the word. */
    boolean settlesAndRemembers(Object object, long word, boolean write) {
        if (!settles(object, word, write)) {
            return false;
        }
        remembersSettled(word, write);
        return true;
    }

    /** Remembers for the hooks that an access does not change a word, if the thread holds no lock. */
    void remembersSettled(long word, boolean write) {
        if (depth != 0 || FissureEngine.ATOMIZER && blocks != null && blocks.isActive()) {
            return;
        }
        if (settled == null) {
            settled = new long[2 * SETTLED];
            changesContext(Thread.currentThread());
        }
        int slot = (int) (word >>> FissureEngine.OWNER_SHIFT) & SETTLED - 1;
        settled[slot + (write ? WRITES : READS)] = word | SITE_MASK;
    }

    /** The locks, the blocks or the segment of the thread have changed, and with them the words that the hooks may use. */
    abstract void changesContext(Thread thread);

    /** An access is stamped with the current segment. */
    void accesses() {
        if (!hasAccesses) {
            hasAccesses = true;
            version++;
            changesContext(Thread.currentThread());
        }
    }

    /**
     * The word after an access, if the thread has made the same access to another location with the same word, and the analysis had
     * nothing to report about it; otherwise 0.
     */
    long stepAsBefore(long word, int set, int site, boolean write) {
        long access = access(set, site, write);
        int at = slot(word ^ access);
        boolean isKnown = steps != null
                && stepVersions[at] == version
                && steps[3 * at] == word
                && steps[3 * at + 1] == access;
        return isKnown ? steps[3 * at + 2] : 0L;
    }

    void remembersStep(long word, int set, int site, boolean write, long next) {
        if (steps == null) {
            stepVersions = new int[MEMO];
            steps = new long[3 * MEMO];
        }
        long access = access(set, site, write);
        int at = slot(word ^ access);
        stepVersions[at] = version;
        steps[3 * at] = word;
        steps[3 * at + 1] = access;
        steps[3 * at + 2] = next;
    }

    /** Identifies an access apart from its location. */
    static long access(int set, int site, boolean write) {
        return (long) set << 32 | (long) site << 1 | (write ? 1L : 0L);
    }

    /** Changes whenever the thread begins a segment or learns what others did. */
    int version() {
        return version;
    }

    /** The locks that protect an access to an array element; -1 if they have to be looked up. */
    int knownSet(boolean write) {
        return clean < depth ? -1 : write ? writeSets[depth] : readSets[depth];
    }

    /**
     * Whether the thread stamps a location itself that it accessed last in an earlier segment. A thread with few segments leaves that to
     * the analysis, which remembers both accesses.
     */
    boolean stampsItself(int earlier) {
        return segments > FissureEngine.EXACT
                && FissureEngine.U.getInt(FissureEngine.OWNERS + ((long) earlier << 2)) == id;
    }

    /** Identifies the thread and all that a release would pass on now. */
    long moment() {
        return (long) id << 32 | version & 0xFFFFFFFFL;
    }

    /** The thread has learned what others did, and goes on in a segment. */
    void learns(int segment) {
        version++;
        moveTo(segment);
    }

    /** Whether the thread has acquired this version of a synchronization object, by hand-over if that is asked for. */
    boolean hasAcquired(int serial, int version, boolean handsOver) {
        return acquired != null && acquired[slot(serial, handsOver)] == ((long) serial << 32 | version & 0xFFFFFFFFL);
    }

    /** Notes an acquire. An acquire by hand-over counts as an acquire of any kind. */
    void acquires(int serial, int version, boolean handsOver) {
        if (acquired == null) {
            acquired = new long[2 * MEMO];
        }
        acquired[slot(serial, false)] = (long) serial << 32 | version & 0xFFFFFFFFL;
        if (handsOver) {
            acquired[slot(serial, true)] = (long) serial << 32 | version & 0xFFFFFFFFL;
        }
    }

    /** Whether this thread knows all that another one could have released at a moment, by hand-over if that is asked for. */
    boolean knowsMoment(long moment, boolean handsOver) {
        int other = (int) (moment >>> 32);
        if (other == id) {
            return true;
        }
        long known = moments == null ? -1L : moments[slot(other, handsOver)];
        return known >>> 32 == other && (int) known - (int) moment >= 0;
    }

    void learnsMoment(long moment, boolean handsOver) {
        if (moments == null) {
            moments = new long[2 * MEMO];
            java.util.Arrays.fill(moments, -1L);
        }
        if (!knowsMoment(moment, false)) {
            moments[slot((int) (moment >>> 32), false)] = moment;
        }
        if (handsOver && !knowsMoment(moment, true)) {
            moments[slot((int) (moment >>> 32), true)] = moment;
        }
    }

    /** Begins another segment in the order by start and join alone. */
    void spanTo(int span) {
        this.span = span;
        settledUsers = -1L;
    }

    /** The locks that protect an access to a field of {@code object} by this thread, as a set. */
    int set(Object object, boolean write) {
        int depth = this.depth;
        if (depth == 0) {
            return 0;
        }
        if (object != null) {
            for (int at = depth - 1; at >= 0; at--) {
                if (locks[at] == object) {
                    return setWithSelf(object, at, write);
                }
            }
        }
        if (clean < depth) {
            settle(depth);
            refresh(Thread.currentThread());
        }
        return write ? writeSets[depth] : readSets[depth];
    }

    /** The intersection of two lock sets. */
    int common(int left, int right) {
        if (left == right || right == 0) {
            return right;
        }
        if (left == 0) {
            return 0;
        }
        long key = (long) left << 32 | right;
        int slot = slot(key);
        if (commonKeys == null) {
            commons = new int[MEMO];
            commonKeys = new long[MEMO];
        }
        if (commonKeys[slot] != key) {
            commons[slot] = FissureEngine.intersect(left, right);
            commonKeys[slot] = key;
        }
        return commons[slot];
    }

    /** Whether a cached verdict says that such an access by this thread changes nothing; sets {@link #isRacy} accordingly. */
    boolean knows(long word, int set, boolean write) {
        long key = key(word, write);
        int slot = slot(key);
        if (known == null || known[slot] != key || (knownSets[slot] & ~RACY) != set) {
            return false;
        }
        isRacy = (knownSets[slot] & RACY) != 0;
        return true;
    }

    void learn(long word, int set, boolean write, boolean racy) {
        long key = key(word, write);
        int slot = slot(key);
        if (known == null) {
            knownSets = new int[MEMO];
            known = new long[MEMO];
        }
        known[slot] = key;
        knownSets[slot] = racy ? set | RACY : set;
    }

    /** Whether an acquire by this thread, in any mode, is known to leave a lock's word {@code users} unchanged. */
    boolean isSettled(long users) {
        return users == settledUsers;
    }

    /** The entry of a lock, from the cache if it is there. */
    FissureLocks.Numbered recentLock(Object lock) {
        if (recentLocks == null) {
            recentLocks = new FissureLocks.Numbered[RECENT_LOCKS];
        }
        int slot = System.identityHashCode(lock) & RECENT_LOCKS - 1;
        FissureLocks.Numbered entry = recentLocks[slot];
        if (entry == null || entry.get() != lock) {
            entry = FissureLocks.numbered(lock);
            recentLocks[slot] = entry;
        }
        return entry;
    }

    /** Begins another segment of the thread. */
    void moveTo(int segment) {
        if (segment == this.segment) {
            return;
        }
        this.segment = segment;
        hasAccesses = false;
        version++;
        segments++;
        for (int at = 0; known != null && at < MEMO; at++) {
            known[at] = 0L;
        }
        for (int at = 0; settled != null && at < settled.length; at++) {
            settled[at] = 0L;
        }
        refresh(Thread.currentThread());
    }

    int find(Object lock, byte mode) {
        for (int at = depth - 1; at >= 0; at--) {
            if (locks[at] == lock && modes[at] == mode) {
                return at;
            }
        }
        return -1;
    }

    boolean grow() {
        int size = Math.max(4, locks.length * 2);
        Object[] moreLocks;
        byte[] moreModes;
        int[] moreReads;
        int[] moreWrites;
        int[] moreSites = NO_SITES;
        boolean[] moreGuards = NO_GUARDS;
        try {
            moreLocks = new Object[size];
            moreModes = new byte[size];
            moreReads = new int[size + 1];
            moreWrites = new int[size + 1];
            if (FissureEngine.SYNCHRONIZATION) {
                moreGuards = new boolean[size];
                System.arraycopy(guards, 0, moreGuards, 0, depth);
            }
            if (FissureEngine.ATOMIZER) {
                moreSites = new int[size];
                System.arraycopy(sites, 0, moreSites, 0, depth);
            }
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
            return false;
        }
        System.arraycopy(locks, 0, moreLocks, 0, depth);
        System.arraycopy(modes, 0, moreModes, 0, depth);
        System.arraycopy(readSets, 0, moreReads, 0, depth + 1);
        System.arraycopy(writeSets, 0, moreWrites, 0, depth + 1);
        modes = moreModes;
        sites = moreSites;
        guards = moreGuards;
        readSets = moreReads;
        writeSets = moreWrites;
        locks = moreLocks;
        return true;
    }

    /** Computes the thread's words from the locks it holds, as far as their sets are settled. */
    void refresh(Thread thread) {
        int read = FissureEngine.REFINE ? readSets[clean] : 0;
        int write = FissureEngine.REFINE ? writeSets[clean] : 0;
        thread.fissureRead = FissureEngine.word(FissureEngine.EXCLUSIVE, segment, read, 0);
        thread.fissureWrite = FissureEngine.word(FissureEngine.EXCLUSIVE_MODIFIED, segment, write, 0);
        changesContext(thread);
    }

    /** Settles the innermost lock, if it is the one whose number was looked up last. */
    private boolean settleTop() {
        int at = depth - 1;
        if (clean != at || lastLock == null || lastLock.get() != locks[at]) {
            return false;
        }
        int lock = lastLock.number();
        readSets[depth] = sum(readSets[at], lock);
        writeSets[depth] = modes[at] == EXCLUSIVE ? sum(writeSets[at], lock) : writeSets[at];
        clean = depth;
        refresh(Thread.currentThread());
        return true;
    }

    void settle(long users) {
        settledUsers = users;
    }

    private void settle(int levels) {
        for (int at = clean; at < levels; at++) {
            lastLock = FissureLocks.numbered(locks[at]);
            int lock = lastLock.number();
            readSets[at + 1] = sum(readSets[at], lock);
            writeSets[at + 1] = modes[at] == EXCLUSIVE ? sum(writeSets[at], lock) : writeSets[at];
        }
        if (clean < levels) {
            clean = levels;
        }
    }

    /** The lock set in which {@code object}, at {@code at} in the stack of locks, appears as {@link #SELF}. */
    private int setWithSelf(Object object, int at, boolean write) {
        if (at == depth - 1 && modes[at] == EXCLUSIVE) {
            settle(at);
            int below = write ? writeSets[at] : readSets[at];
            return below == 0 ? selfOnly : sum(below, SELF);
        }
        int set = 0;
        for (int i = 0; i < depth; i++) {
            if (!write || modes[i] == EXCLUSIVE) {
                set = sum(set, locks[i] == object ? SELF : FissureLocks.numbered(locks[i]).number());
            }
        }
        return set;
    }

    private int sum(int set, int lock) {
        long key = (long) set << 32 | lock;
        int slot = slot(key);
        if (sumKeys == null) {
            sums = new int[MEMO];
            sumKeys = new long[MEMO];
        }
        if (sumKeys[slot] != key) {
            sums[slot] = FissureEngine.addLock(set, lock);
            sumKeys[slot] = key;
        }
        return sums[slot];
    }

    private static long key(long word, boolean write) {
        return (word & FissureHook.WRITE_MASK) | (write ? 1L : 2L);
    }

    /** The second half of a cache is for hand-over. */
    private static int slot(int number, boolean handsOver) {
        return (number & MEMO - 1) + (handsOver ? MEMO : 0);
    }

    private static int slot(long key) {
        return (int) ((key * 0x9E3779B97F4A7C15L) >>> 58);
    }
}
