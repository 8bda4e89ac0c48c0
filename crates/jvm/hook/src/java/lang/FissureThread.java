package java.lang;

/** The state of one thread: its number, the locks it holds and the words that follow from them. */
final class FissureThread extends FissureRecent {
    /** The lock was already held. */
    private static final int AGAIN = 1 << 29;
    /** The acquire began a block. */
    private static final int BLOCK = 1 << 30;
    private static final int SITE = (1 << 20) - 1;

    /** Whether a second thread was started, so that synchronization can order accesses. */
    static boolean isConcurrent;

    /** Set while this thread is inside the engine: JDK code that it calls there is not part of the program. */
    boolean busy;
    /** The round of the barrier at which the thread arrived. */
    Object round;
    /** The reference arguments of the next join point reported to the monitor script. */
    Object[] arguments;
    /** The site of a reported call of the library whose lock or atomic operation has not been reported yet. */
    int call;
    /** Whether a method in scope ran in this thread. */
    private boolean hasRun;
    /** How many class initializers this thread is in. */
    private int initializers;

    // Shared until a thread needs its own.
    private static final long[] NO_BITS = {};

    private long[] sampled = NO_BITS;

    private FissureThread(int id, int segment) {
        super(id, segment);
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
            long moment = self.moment();
            register(child, self.id);
            child.fissureState.learnsMoment(moment, true);
            self.moveTo(FissureEngine.segmentOf(self.id));
            self.spanTo(FissureEngine.spanOf(self.id));
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
            String thread = FissureNames.of(Thread.currentThread());
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
            self.spanTo(FissureEngine.spanOf(self.id));
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
            self.changesContext(Thread.currentThread());
        }
    }

    /**
     * Pushes a lock. The thread's words stay as they are: a location whose lock set is a subset of the locks held before is not changed
     * by an access under one more lock.
     */
    static void acquire(Object lock, byte mode, int site) {
        Thread thread = Thread.currentThread();
        FissureThread self = thread.fissureState;
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
        thread.fissureFresh = 0L;
        thread.fissureSettled = null;
        FissureEngine.increment(self.counters);
        if (FissureEngine.SYNCHRONIZATION) {
            boolean orders = mode != OPTIMISTIC && FissureLocks.orders(self, lock);
            self.guards[depth] = orders;
            if (orders) {
                FissureOrder.acquireLock(lock);
            }
        }
    }

    /** The lock that was pushed last has been acquired, so that its last release happens before this. */
    static void entered() {
        FissureThread self = Thread.currentThread().fissureState;
        if (self != null && !self.busy && self.depth > 0 && self.guards[self.depth - 1]) {
            FissureOrder.acquireLock(self.locks[self.depth - 1]);
        }
    }

    /** Threads wait for a lock, so that its releases order accesses from now on. Null stands for the lock that was acquired last. */
    static void guards(Object lock) {
        FissureThread self = Thread.currentThread().fissureState;
        Object guard = self == null || self.busy ? null : self.named(lock);
        if (guard == null || FissureLocks.orders(self, guard)) {
            return;
        }
        self.busy = true;
        try {
            FissureLocks.guard(guard);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            self.busy = false;
        }
        for (int at = 0; at < self.depth; at++) {
            self.guards[at] |= self.locks[at] == guard;
        }
    }

    /** The thread is about to wait, which releases the lock; null as above. */
    static void waitReleases(Object lock) {
        FissureThread self = Thread.currentThread().fissureState;
        Object guard = self == null || self.busy ? null : self.named(lock);
        if (guard != null && FissureLocks.orders(self, guard)) {
            FissureOrder.releaseShared(FissureLocks.place(guard));
        }
    }

    /** The thread has waited, and acquired the lock again. */
    static void waitAcquires(Object lock) {
        FissureThread self = Thread.currentThread().fissureState;
        Object guard = self == null || self.busy ? null : self.named(lock);
        if (guard != null && FissureLocks.orders(self, guard)) {
            FissureOrder.acquireLock(guard);
        }
    }

    private Object named(Object lock) {
        return lock != null ? lock : depth > 0 ? locks[depth - 1] : null;
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
            self.changesContext(Thread.currentThread());
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

    void forgetCounts() {
        for (long counter = counters; counter < counters + 32L; counter += 8L) {
            FissureEngine.U.putLong(counter, 0L);
        }
    }

    @Override
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
        boolean races = FissureEngine.isRacy(word, span, set, false);
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
        changesContext(Thread.currentThread());
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

    /** Whether a new location is written at a site whose stack is known. */
    boolean begins(int site) {
        if (busy || !isSampled(site)) {
            return false;
        }
        FissureEngine.increment(counters + 8L);
        return true;
    }

    /** Handles the first access to a field of an object that the thread has not locked; false if there is more to do. */
    boolean begins(Thread current, Object object, int site, boolean write) {
        long word = current.fissureFresh;
        int offset = FissureEngine.U.getInt(FissureEngine.TABLE + ((long) site << 2));
        if (word == 0L || depth != 0 || offset <= 0 || busy || !isSampled(site)) {
            return false;
        }
        long first = (write ? word : word & ~(1L << FissureEngine.STATE_SHIFT)) | site;
        if (!FissureEngine.U.compareAndSetLong(object, (long) offset, 0L, first)) {
            return false;
        }
        FissureEngine.increment(counters + 8L);
        return true;
    }

    private boolean isSampled(int site) {
        int at = site >>> 6;
        return at < sampled.length && (sampled[at] & 1L << site) != 0L;
    }

    @Override
    void changesContext(Thread thread) {
        boolean isFree =
                !FissureEngine.ATOMIZER || blocks == null || !blocks.isActive();
        thread.fissureSettled = depth == 0 && isFree ? settled : null;
        thread.fissureFresh = clean == depth && hasAccesses && initializers == 0 && isFree ? thread.fissureWrite : 0L;
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

    private static void register(Thread thread, int parent) {
        long packed = FissureEngine.startThread(parent, thread, FissureNames.of(thread));
        FissureThread state = new FissureThread((int) (packed >>> 32), (int) packed);
        state.span = FissureEngine.spanOf(state.id);
        thread.fissureState = state;
        state.refresh(thread);
        if (state.id > 0) {
            isConcurrent = true;
        }
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
        if (FissureEngine.SYNCHRONIZATION && guards[at]) {
            FissureOrder.releaseShared(FissureLocks.place(locks[at]));
        }
        int last = depth - 1;
        for (int i = at; i < last; i++) {
            locks[i] = locks[i + 1];
            modes[i] = modes[i + 1];
            if (FissureEngine.SYNCHRONIZATION) {
                guards[i] = guards[i + 1];
            }
            if (FissureEngine.ATOMIZER) {
                sites[i] = sites[i + 1];
            }
        }
        locks[last] = null;
        depth = last;
        if (clean > at) {
            clean = at;
            refresh(thread);
        } else {
            changesContext(thread);
        }
    }

}
