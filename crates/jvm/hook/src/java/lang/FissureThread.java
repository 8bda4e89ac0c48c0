package java.lang;

/** The state of one thread: its number, the locks it holds and the words that follow from them. */
final class FissureThread {
    static final byte EXCLUSIVE = 0;
    static final byte SHARED = 1;
    static final byte OPTIMISTIC = 2;

    /** The number that stands for the accessed object's own lock. */
    private static final int SELF = 1;
    private static final int MEMO = 64;
    /** The lock was already held. */
    private static final int AGAIN = 1 << 29;
    /** The acquire began a block. */
    private static final int BLOCK = 1 << 30;
    /** In the cached verdicts of the analysis: such an access races. */
    private static final int RACY = 1 << 30;
    private static final int SITE = (1 << 20) - 1;
    private static final int RECENT_LOCKS = 512;
    private static final int RECENT_ARRAYS = 256;

    final int id;
    int segment;
    /** Set while this thread is inside the engine: JDK code that it calls there is not part of the program. */
    boolean busy;
    /** The reference arguments of the next join point reported to the monitor script. */
    Object[] arguments;
    /** Whether the access that was checked last races. */
    boolean isRacy;
    /** The site of a reported call of the library whose lock or atomic operation has not been reported yet. */
    int call;
    /** Whether a method in scope ran in this thread. */
    private boolean hasRun;
    /** How many class initializers this thread is in. */
    private int initializers;

    // There may be hundreds of thousands of threads, so that they share empty arrays until they need their own.
    private static final Object[] NO_LOCKS = {};
    private static final byte[] NO_MODES = {};
    private static final int[] NO_SITES = {};
    private static final int[] NO_SETS = {0};
    private static final long[] NO_BITS = {};
    private static final FissureArrays.Shadow[] NO_ARRAYS = {null};

    private Object[] locks = NO_LOCKS;
    private byte[] modes = NO_MODES;
    /** The sites of the acquires, with {@link #AGAIN} and {@link #BLOCK}; only if atomicity is checked. */
    private int[] sites = NO_SITES;
    /** Lock sets for reads and writes by number of locks held, valid up to {@link #clean}. */
    private int[] readSets = NO_SETS;
    private int[] writeSets = NO_SETS;
    private int depth;
    private int clean;

    /** Address of off-heap counters: acquires, locations, accesses that the analysis judged, and executions of blocks. */
    final long counters;
    private long[] sampled = NO_BITS;

    /** The lock whose number was looked up last: programs often acquire the same lock repeatedly. */
    private FissureLocks.Numbered lastLock;
    private final int selfOnly = FissureEngine.addLock(0, SELF);

    /** The blocks that this thread is in; null until the first one. */
    private FissureBlocks blocks;
    /** A cache by identity. */
    private FissureLocks.Numbered[] recentLocks;
    /** The word of the uses of the lock that was settled last: many locks have the same. */
    private long settledUsers = -1L;
    /** A cache by identity. */
    private FissureArrays.Shadow[] arrays = NO_ARRAYS;
    // Caches of lock-set operations and verdicts, allocated on first use: there may be a hundred thousand threads that do little.
    private long[] sumKeys;
    private int[] sums;
    private long[] commonKeys;
    private int[] commons;
    private long[] known;
    private int[] knownSets;

    private FissureThread(int id, int segment) {
        this.id = id;
        this.segment = segment;
        this.counters = FissureEngine.COUNTERS + ((long) Math.min(id, FissureEngine.COUNTED_THREADS - 1) << 5);
    }

    /** Creates the state of a thread whose start was not reported. */
    static void attach(Thread thread) {
        register(thread, -1);
    }

    static void start(Thread child) {
        FissureThread self = Thread.currentThread().fissureState;
        if (child.fissureState != null || self != null && self.busy) {
            return;
        }
        if (self == null) {
            register(child, -1);
            return;
        }
        // From here on the accesses of a class initializer may race with the new thread.
        self.initializers = 0;
        self.busy = true;
        try {
            register(child, self.id);
            self.moveTo(FissureEngine.segmentOf(self.id));
            self.logUnplaced(FissureBlocks.START, child);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            self.busy = false;
        }
    }

    /** An exception ends the current thread or a test. Threads that serve the JVM are ignored: they are not part of the program. */
    static void failed(Throwable thrown, boolean isTest) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self == null || self.busy || FissureThrown.isStop(thrown)) {
            return;
        }
        Throwable exception = FissureThrown.cause(thrown);
        String message = null;
        String stack = "";
        try {
            // The exception's own methods are program code and checked like the rest of it.
            message = exception.getMessage();
            StringBuilder frames = new StringBuilder();
            FissureThrown.addFrames(frames, exception);
            stack = frames.toString();
        } catch (Throwable failure) {
            // An exception whose own methods throw is reported without message or stack.
        }
        self.busy = true;
        try {
            String thread = Thread.currentThread().getName();
            FissureEngine.failed(thread, exception.getClass().getName(), message, stack, isTest);
        } catch (Throwable failure) {
            FissureEngine.outOfMemory();
        } finally {
            self.busy = false;
        }
    }

    static void joined(Thread child) {
        FissureThread self = Thread.currentThread().fissureState;
        FissureThread ended = child.fissureState;
        if (self == null || ended == null || self.busy || child.isAlive()) {
            return;
        }
        self.busy = true;
        try {
            self.moveTo(FissureEngine.joinThread(self.id, ended.id));
            self.logUnplaced(FissureBlocks.JOIN, child);
        } finally {
            self.busy = false;
        }
    }

    /** A method in scope begins while the threads that run such methods are still counted. */
    static void methodRuns() {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null && !self.hasRun) {
            self.hasRun = true;
            FissureHook.countsThreads = FissureEngine.threadRuns();
        }
    }

    static void initializer(int change) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null) {
            self.initializers = Math.max(0, self.initializers + change);
        }
    }

    /**
     * Pushes a lock. The thread's words stay as they are: a location whose lock set is a subset of the locks held before is not changed
     * by an access under one more lock.
     */
    static void acquire(Object lock, byte mode, int site) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self == null || self.busy) {
            return;
        }
        int depth = self.depth;
        if (depth == self.locks.length && !self.grow()) {
            return;
        }
        if (FissureEngine.ATOMIZER) {
            self.sites[depth] = site == 0 || self.initializers > 0 ? 0 : self.logAcquire(lock, mode, site);
        }
        self.locks[depth] = lock;
        self.modes[depth] = mode;
        self.depth = depth + 1;
        FissureEngine.increment(self.counters);
        if (FissureEngine.HAPPENS_BEFORE) {
            FissureOrder.acquire(FissureLocks.place(lock));
        }
    }

    /** The lock that was pushed last has been acquired, so that its last release happens before this. */
    static void entered() {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null && !self.busy && self.depth > 0) {
            FissureOrder.acquire(FissureLocks.place(self.locks[self.depth - 1]));
        }
    }

    static void acquireOptimistic(Object lock) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null && self.find(lock, OPTIMISTIC) < 0) {
            acquire(lock, OPTIMISTIC, 0);
        }
    }

    static void release(Object lock) {
        Thread thread = Thread.currentThread();
        FissureThread self = thread.fissureState;
        if (self == null || self.busy) {
            return;
        }
        int top = self.depth - 1;
        if (top >= 0 && self.locks[top] == lock) {
            self.drop(thread, top);
        } else {
            int at = top - 1;
            while (at >= 0 && self.locks[at] != lock) {
                at--;
            }
            if (at >= 0) {
                self.drop(thread, at);
            }
        }
    }

    static void releaseTop() {
        Thread thread = Thread.currentThread();
        FissureThread self = thread.fissureState;
        if (self != null && !self.busy && self.depth > 0) {
            self.drop(thread, self.depth - 1);
        }
    }

    static void releaseOptimistic(Object lock) {
        Thread thread = Thread.currentThread();
        FissureThread self = thread.fissureState;
        if (self != null && !self.busy) {
            int at = self.find(lock, OPTIMISTIC);
            if (at >= 0) {
                self.drop(thread, at);
            }
        }
    }

    /** A stamp was exchanged for one of another mode. */
    static void convert(Object lock, byte mode) {
        release(lock);
        acquire(lock, mode, 0);
    }

    /** A lock of the library was acquired; the site is that of the preceding reported call. */
    static void acquireCalled(Object lock, byte mode) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null) {
            acquire(lock, mode, FissureEngine.ATOMIZER ? self.takeCall() : 0);
        }
    }

    /** A {@code tryLock} of the library has returned; even if it failed, the reported call is over. */
    static void tried(boolean got, Object lock, byte mode) {
        if (got) {
            acquireCalled(lock, mode);
        } else if (FissureEngine.ATOMIZER) {
            FissureThread self = Thread.currentThread().fissureState;
            if (self != null) {
                self.call = 0;
            }
        }
    }

    /** A reported method of the library is about to be called. */
    static void callAt(int site) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null && !self.busy) {
            self.call = site;
        }
    }

    /** An atomic is accessed; accesses by the library itself, without a reported call, do not count. */
    static void atomic(Object atomic, boolean write) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self == null || self.isQuiet() || self.call == 0) {
            return;
        }
        int site = self.takeCall();
        self.busy = true;
        try {
            FissureLocks.Numbered entry = self.recentLock(atomic);
            FissureEngine.access(
                    self, self.set(null, write), atomic, entry, FissureLocks.ACCESSES, site, write);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            self.busy = false;
        }
    }

    /** A compare-and-set of an atomic has returned. */
    static void compared(boolean set, Object atomic) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self == null || self.isQuiet() || self.call == 0) {
            return;
        }
        if (FissureEngine.COMPARE_AND_SET && self.blocks != null) {
            self.blocks.forgetRead(atomic);
        }
        if (set || !FissureEngine.COMPARE_AND_SET) {
            atomic(atomic, true);
        } else {
            self.call = 0;
        }
    }

    /** A method begins that should be atomic. */
    static void blockEnter(int site) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null && !self.isQuiet()) {
            self.enterBlock(site, null);
        }
    }

    static void blockExit() {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null && !self.isQuiet() && self.blocks != null) {
            self.blocks.exitMethod();
        }
    }

    /** The thread is about to wait; null stands for the lock that it acquired last. */
    static void waitBegins(Object lock) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self == null || self.isQuiet() || self.blocks == null || self.depth == 0) {
            return;
        }
        int at = self.depth - 1;
        while (lock != null && at > 0 && self.locks[at] != lock) {
            at--;
        }
        if (self.sites[at] != 0) {
            self.blocks.waits(self.locks[at]);
            self.blocks.log(FissureBlocks.WAIT, self.locks[at], self.sites[at] & SITE);
        }
    }

    /** Uses everything once that blocks need, so that an unsupported JVM fails early. */
    static void tryBlocks(Object lock) {
        FissureThread self = Thread.currentThread().fissureState;
        acquire(lock, EXCLUSIVE, 0);
        FissureLocks.touch(self, lock, true);
        self.enterBlock(0, lock);
        self.blocks.log(FissureBlocks.START, lock, 0);
        self.blocks.log(FissureBlocks.JOIN, lock, 0);
        self.blocks.exit(lock);
        callAt(0);
        release(lock);
    }

    /**
     * A wait releases the lock and acquires it again. The thread accesses nothing in between, so that its lock sets stay valid; only
     * the second acquire is counted.
     */
    static void waits() {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null && !self.busy) {
            FissureEngine.increment(self.counters);
        }
    }

    boolean isInitializing() {
        return initializers > 0;
    }

    int heldLocks() {
        return depth;
    }

    /** The number of a held lock, negative if it is held in shared mode. */
    int lockNumber(int at) {
        int number = recentLock(locks[at]).number();
        return modes[at] == EXCLUSIVE ? number : -number;
    }

    void forgetCounts() {
        for (long counter = counters; counter < counters + 32L; counter += 8L) {
            FissureEngine.U.putLong(counter, 0L);
        }
    }

    /** Whether this thread's accesses are currently not checked. */
    boolean isQuiet() {
        return busy || initializers > 0;
    }

    /** Logs an access inside of a block that races, or that may turn out to race later. */
    void logAccess(Object owner, Object base, long word, int set, int site, boolean write) {
        if (blocks == null) {
            return;
        }
        if (isRacy && blocks.isActive()) {
            boolean readMoves = write && FissureBlocks.isWithRead(site) && !readRaces(owner, base, word);
            Object atomic = base instanceof FissureLocks.Numbered ? owner : null;
            blocks.logAccess(readMoves ? FissureBlocks.WRITE_ONLY : FissureBlocks.ACCESS, atomic, site, write);
        } else if (blocks.isNoting() && !(base instanceof long[])) {
            boolean isOwn = (int) (word >>> FissureEngine.STATE_SHIFT) == FissureEngine.EXCLUSIVE_MODIFIED;
            boolean hasLocks = ((int) (word >>> FissureEngine.SET_SHIFT) & FissureEngine.SET_MASK) != 0;
            blocks.logSoFar(owner, site, set, write, isOwn && !hasLocks);
        }
    }

    /** Whether a read by this thread of the location that it has just written would race. */
    private boolean readRaces(Object owner, Object base, long word) {
        int set = set(base == owner ? owner : null, false);
        if (knows(word, set, false)) {
            return isRacy;
        }
        boolean races = FissureEngine.isRacy(word, segment, set, false);
        learn(word, set, false, races);
        return races;
    }

    private void logUnplaced(int kind, Object object) {
        if (FissureEngine.ATOMIZER && blocks != null && initializers == 0) {
            blocks.log(kind, object, 0);
        }
    }

    private int takeCall() {
        int site = call;
        call = 0;
        return site;
    }

    private void enterBlock(int site, Object lock) {
        if (blocks == null) {
            blocks = new FissureBlocks(this);
        }
        blocks.enter(site, lock);
    }

    /** Logs an acquire before it happens; returns the value to store in {@link #sites}. */
    private int logAcquire(Object lock, byte mode, int site) {
        for (int at = depth - 1; at >= 0; at--) {
            if (locks[at] == lock) {
                if (!FissureEngine.RE_ENTRANT && blocks != null) {
                    blocks.log(FissureBlocks.ACQUIRE_AGAIN, lock, site);
                }
                return enterIfBlock(lock, site | AGAIN);
            }
        }
        try {
            FissureLocks.touch(this, lock, mode == EXCLUSIVE);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
            return 0;
        }
        if (blocks != null && blocks.isActive()) {
            blocks.log(FissureBlocks.ACQUIRE, lock, site);
        }
        return enterIfBlock(lock, site);
    }

    private int enterIfBlock(Object lock, int kept) {
        if (!FissureBlocks.isBlock(kept & SITE)) {
            return kept;
        }
        enterBlock(kept & SITE, lock);
        return kept | BLOCK;
    }

    /** Whether an acquire by this thread, in any mode, is known to leave a lock's word {@code users} unchanged. */
    boolean isSettled(long users) {
        return users == settledUsers;
    }

    void settle(long users) {
        settledUsers = users;
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
            return knows(word, set, write)
                    && !(FissureEngine.ATOMIZER && isRacy && blocks != null && blocks.isActive());
        }
        int locationSet = (int) (word >>> FissureEngine.SET_SHIFT) & FissureEngine.SET_MASK;
        return locationSet == (FissureEngine.REFINE ? set : 0)
                && ((int) (word >>> FissureEngine.OWNER_SHIFT) & FissureEngine.OWNER_MASK) == segment
                && (state == FissureEngine.EXCLUSIVE_MODIFIED || state == FissureEngine.EXCLUSIVE && !write);
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

    /** The shadow of an array, if it is in this thread's cache. */
    FissureArrays.Shadow recent(Object array) {
        FissureArrays.Shadow shadow = arrays[System.identityHashCode(array) & arrays.length - 1];
        return shadow != null && shadow.get() == array ? shadow : null;
    }

    /** The shadow of an array. */
    FissureArrays.Shadow shadow(Object array) {
        FissureArrays.Shadow shadow = recent(array);
        if (shadow == null) {
            if (arrays == NO_ARRAYS) {
                arrays = new FissureArrays.Shadow[RECENT_ARRAYS];
            }
            shadow = FissureArrays.find(array);
            arrays[System.identityHashCode(array) & arrays.length - 1] = shadow;
        }
        return shadow;
    }

    /** Whether the thread's words reflect all locks that it holds. */
    boolean isClean() {
        return clean == depth;
    }

    void newLocation(int site) {
        FissureEngine.increment(counters + 8L);
        sample(site);
    }

    /** Samples one stack per site that this thread passes, so that a report can show it later. */
    void sample(int site) {
        int at = site >>> 6;
        if (at >= sampled.length) {
            long[] larger = new long[Math.max(at + 1, sampled.length + sampled.length / 2)];
            System.arraycopy(sampled, 0, larger, 0, sampled.length);
            sampled = larger;
        }
        long bit = 1L << site;
        if ((sampled[at] & bit) == 0L) {
            sampled[at] |= bit;
            FissureEngine.sample(id, site);
        }
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

    private static long key(long word, boolean write) {
        return (word & FissureHook.WRITE_MASK) | (write ? 1L : 2L);
    }

    private static int slot(long key) {
        return (int) ((key * 0x9E3779B97F4A7C15L) >>> 58);
    }

    private static void register(Thread thread, int parent) {
        long packed = FissureEngine.startThread(parent, thread, thread.getName());
        FissureThread state = new FissureThread((int) (packed >>> 32), (int) packed);
        thread.fissureState = state;
        state.refresh(thread);
    }

    /** Begins another segment of the thread. */
    void moveTo(int segment) {
        if (segment == this.segment) {
            return;
        }
        this.segment = segment;
        settledUsers = -1L;
        for (int at = 0; known != null && at < MEMO; at++) {
            known[at] = 0L;
        }
        refresh(Thread.currentThread());
    }

    /** Computes the thread's words from the locks it holds, as far as their sets are settled. */
    private void refresh(Thread thread) {
        int read = FissureEngine.REFINE ? readSets[clean] : 0;
        int write = FissureEngine.REFINE ? writeSets[clean] : 0;
        thread.fissureRead = FissureEngine.word(FissureEngine.EXCLUSIVE, segment, read, 0);
        thread.fissureWrite = FissureEngine.word(FissureEngine.EXCLUSIVE_MODIFIED, segment, write, 0);
    }

    private void drop(Thread thread, int at) {
        if (FissureEngine.ATOMIZER && sites[at] != 0 && blocks != null && initializers == 0) {
            Object lock = locks[at];
            int site = sites[at];
            if ((site & BLOCK) != 0) {
                blocks.exit(lock);
            }
            if ((site & AGAIN) == 0) {
                blocks.log(FissureBlocks.RELEASE, lock, site & SITE);
            } else if (!FissureEngine.RE_ENTRANT) {
                blocks.log(FissureBlocks.RELEASE_AGAIN, lock, site & SITE);
            }
        }
        if (FissureEngine.HAPPENS_BEFORE && modes[at] != OPTIMISTIC) {
            FissureOrder.release(FissureLocks.place(locks[at]));
        }
        int last = depth - 1;
        for (int i = at; i < last; i++) {
            locks[i] = locks[i + 1];
            modes[i] = modes[i + 1];
            if (FissureEngine.ATOMIZER) {
                sites[i] = sites[i + 1];
            }
        }
        locks[last] = null;
        depth = last;
        if (clean > at) {
            clean = at;
            refresh(thread);
        }
    }

    private int find(Object lock, byte mode) {
        for (int at = depth - 1; at >= 0; at--) {
            if (locks[at] == lock && modes[at] == mode) {
                return at;
            }
        }
        return -1;
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

    private boolean grow() {
        int size = Math.max(4, locks.length * 2);
        Object[] moreLocks;
        byte[] moreModes;
        int[] moreReads;
        int[] moreWrites;
        int[] moreSites = NO_SITES;
        try {
            moreLocks = new Object[size];
            moreModes = new byte[size];
            moreReads = new int[size + 1];
            moreWrites = new int[size + 1];
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
        readSets = moreReads;
        writeSets = moreWrites;
        locks = moreLocks;
        return true;
    }
}
