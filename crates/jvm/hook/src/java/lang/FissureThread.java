package java.lang;

/** What is known of one thread: its number, the locks it holds and the words that follow from them. */
final class FissureThread {
    static final byte EXCLUSIVE = 0;
    static final byte SHARED = 1;
    static final byte OPTIMISTIC = 2;

    /** The number that stands for the accessed object's own lock. */
    private static final int SELF = 1;
    private static final int MEMO = 64;
    /** The lock was held already. */
    private static final int AGAIN = 1 << 29;
    /** A block began with it. */
    private static final int BLOCK = 1 << 30;
    /** In the memory of what the analysis has said: such an access races. */
    private static final int RACY = 1 << 30;
    private static final int SITE = (1 << 20) - 1;
    private static final int RECENT_LOCKS = 512;
    private static final int RECENT_ARRAYS = 256;

    final int id;
    int segment;
    /** Set while this thread is inside the engine: what the JDK does on its behalf is not the program's. */
    boolean busy;
    /** References that are handed over at the next point that a monitor is told of. */
    Object[] arguments;
    /** Whether the access that was looked at last races. */
    boolean isRacy;
    /** The site of a call that was announced and has not been seen yet. */
    int call;
    /** Whether a method in scope ran in this thread. */
    private boolean hasRun;
    /** How many class initializers this thread is in. */
    private int initializers;

    // Threads may come in hundreds of thousands, so that everything they do not need is shared until they do.
    private static final Object[] NO_LOCKS = {};
    private static final byte[] NO_MODES = {};
    private static final int[] NO_SITES = {};
    private static final int[] NO_SETS = {0};
    private static final long[] NO_BITS = {};
    private static final FissureArrays.Shadow[] NO_ARRAYS = {null};

    private Object[] locks = NO_LOCKS;
    private byte[] modes = NO_MODES;
    /** Where the locks were acquired, with {@link #AGAIN} and {@link #BLOCK}; only if blocks are looked at. */
    private int[] sites = NO_SITES;
    /** Lock sets for reads and writes by number of locks held, right up to {@link #clean}. */
    private int[] readSets = NO_SETS;
    private int[] writeSets = NO_SETS;
    private int depth;
    private int clean;

    /** Longs outside the heap: acquires, locations, and accesses that the analysis judged. */
    final long counters;
    private long[] sampled = NO_BITS;

    /** The lock whose number was looked up last: programs take the same lock again and again. */
    private FissureLocks.Numbered lastLock;
    private final int selfOnly = FissureEngine.addLock(0, SELF);

    /** The blocks that this thread is in, once there was one. */
    private FissureBlocks blocks;
    /** By identity. */
    private FissureLocks.Numbered[] recentLocks;
    /** The users of the lock that was settled last: many locks have the same. */
    private long settledUsers = -1L;
    /** By identity. */
    private FissureArrays.Shadow[] arrays = NO_ARRAYS;
    /** Made when they are needed first: there may be a hundred thousand threads that hardly do anything. */
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

    /** Begins to watch a thread that nobody watched started. */
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
        // From here on a class initializer is not alone with what it does.
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

    /** An exception ends the current thread, or a test. Those of threads that serve the JVM are none of the program's. */
    static void failed(Throwable thrown, boolean isTest) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self == null || self.busy || FissureThrown.isStop(thrown)) {
            return;
        }
        Throwable exception = FissureThrown.cause(thrown);
        String message = null;
        String stack = "";
        try {
            // The exception's own code is the program's, and watched like the rest of it.
            message = exception.getMessage();
            StringBuilder frames = new StringBuilder();
            FissureThrown.addFrames(frames, exception);
            stack = frames.toString();
        } catch (Throwable failure) {
            // An exception that fails when it is asked about itself is told without an answer.
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

    /** A method in scope begins, and it is not known yet whether such methods run in several threads. */
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
     * Pushes a lock. The thread's words stay as they are: a location whose lock set is part of what was held before
     * is not changed by an access that holds one lock more.
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
            self.sites[depth] = site == 0 || self.initializers > 0 ? 0 : self.note(lock, mode, site);
        }
        self.locks[depth] = lock;
        self.modes[depth] = mode;
        self.depth = depth + 1;
        FissureEngine.increment(self.counters);
        if (FissureEngine.HAPPENS_BEFORE) {
            FissureOrder.acquire(FissureLocks.place(lock));
        }
    }

    /** The lock that was pushed last has been got, so that what its last owner did comes before. */
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

    /** A lock of the library is acquired: a call that was announced says where. */
    static void acquireCalled(Object lock, byte mode) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null) {
            acquire(lock, mode, FissureEngine.ATOMIZER ? self.takeCall() : 0);
        }
    }

    /** A lock of the library was tried; if it was not got, the call that was announced is over all the same. */
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

    /** A method of the library is about to be called. */
    static void callAt(int site) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null && !self.busy) {
            self.call = site;
        }
    }

    /** An atomic is accessed; what the library does by itself does not count. */
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

    /** An atomic was compared, and set if it had the expected value. */
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

    /** A method begins that is to be atomic. */
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

    /** Uses everything once that blocks need. */
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
     * A wait gives the lock back and takes it again. The thread accesses nothing in between, so that its lock sets may
     * stay as they are; the second acquire is counted.
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

    /** The number of a lock that is held, negative if others may hold it too. */
    int lockNumber(int at) {
        int number = recentLock(locks[at]).number();
        return modes[at] == EXCLUSIVE ? number : -number;
    }

    void forgetCounts() {
        for (long counter = counters; counter < counters + 32L; counter += 8L) {
            FissureEngine.U.putLong(counter, 0L);
        }
    }

    /** Whether this thread's accesses are not looked at now. */
    boolean isQuiet() {
        return busy || initializers > 0;
    }

    /** Takes note of an access inside of a block that races, or that may turn out to. */
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

    /** Whether a read races that this thread makes where it has just written. */
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

    /** Takes note of an acquire before it is one; gives back what is kept with the lock. */
    private int note(Object lock, byte mode, int site) {
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

    /** Whether a lock with these users is known to stay as it is when this thread acquires it, be it to write. */
    boolean isSettled(long users) {
        return users == settledUsers;
    }

    void settle(long users) {
        settledUsers = users;
    }

    /** The entry of a lock. */
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
     * Whether an access to a location with this word changes nothing, as far as that is seen without looking anything
     * up: for locations that the innermost lock protects, and for shared ones that the analysis has settled before.
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

    /** The shadow of an array, if it is among those that this thread used last. */
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

    /** Whether the thread's words stand for all locks that it holds. */
    boolean isClean() {
        return clean == depth;
    }

    void newLocation(int site) {
        FissureEngine.increment(counters + 8L);
        sample(site);
    }

    /** Remembers one stack for each site that this thread passes, so that a report can show it later. */
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

    /** What two lock sets have in common. */
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

    /** Whether the analysis has said before that such an access by this thread changes nothing, and whether it races. */
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

    /** Begins another segment of the thread's life. */
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

    /** Makes the thread's words fit the locks it holds, as far as they are settled. */
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

    /** Settles one lock more, if it is the one whose number was asked for last. */
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

    /** The set where {@code object}, at {@code at} in the stack, stands for itself. */
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
