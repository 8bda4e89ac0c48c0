package java.lang;

/**
 * The hooks of detection runs for synchronization: locks, waits, atomic blocks, and operations that order what threads do. The methods
 * keep the rules of {@link FissureHook}, which inherits them: small, usable from the JVM's first instruction on, and without exceptions.
 */
public abstract class FissureSynchronization {
    /** Set once the agent is ready. */
    static boolean on;

    FissureSynchronization() {}

    /**
     * A monitor is about to be entered. A thread that blocks on it accesses nothing, so that it does no harm to add the monitor to the
     * lock set before the thread holds it.
     */
    public static void enter(Object lock) {
        if (on && lock != null) {
            FissureThread.acquire(lock, FissureThread.EXCLUSIVE, 0);
        }
    }

    /** The same with the site, which the atomicity check needs. */
    public static void enter(Object lock, int site) {
        if (on && lock != null) {
            FissureThread.acquire(lock, FissureThread.EXCLUSIVE, site);
        }
    }

    public static void blockEnter(int site) {
        if (on) {
            FissureThread.blockEnter(site);
        }
    }

    public static void blockExit() {
        if (on) {
            FissureThread.blockExit();
        }
    }

    public static void callAt(int site) {
        if (on) {
            FissureThread.callAt(site);
        }
    }

    public static void atomicRead(Object atomic) {
        if (on) {
            FissureThread.atomic(atomic, false);
        }
    }

    public static void atomicCompared(boolean set, Object atomic) {
        if (on) {
            FissureThread.compared(set, atomic);
        }
    }

    public static void atomicWrite(Object atomic) {
        if (on) {
            FissureThread.atomic(atomic, true);
        }
    }

    public static void exit(Object lock) {
        if (on) {
            FissureThread.release(lock);
        }
    }

    public static void exitTop() {
        if (on) {
            FissureThread.releaseTop();
        }
    }

    /** The monitor that was about to be entered has been entered. */
    public static void entered() {
        if (on && FissureEngine.SYNCHRONIZATION) {
            FissureThread.entered();
        }
    }

    /** An element is about to be put into a collection. */
    public static void gives(Object element) {
        if (on && FissureEngine.SYNCHRONIZATION) {
            FissureOrder.gives(element);
        }
    }

    /** An element was got from a collection. */
    public static void takes(Object element) {
        if (on && FissureEngine.SYNCHRONIZATION) {
            FissureOrder.takes(element);
        }
    }

    public static void volatileRead(Object object) {
        if (on) {
            FissureOrder.volatileRead(object);
        }
    }

    public static void volatileWrite(Object object) {
        if (on) {
            FissureOrder.volatileWrite(object);
        }
    }

    public static void volatileReadAt(Object object, int site) {
        if (on) {
            FissureEngine.volatileReadAt(object, site);
        }
    }

    public static void volatileReadStaticAt(int site) {
        if (on) {
            FissureEngine.volatileReadStaticAt(site);
        }
    }

    public static void volatileReadStatic(int cell) {
        if (on) {
            FissureOrder.volatileReadStatic(cell);
        }
    }

    public static void volatileWriteStatic(int cell) {
        if (on) {
            FissureOrder.volatileWriteStatic(cell);
        }
    }

    public static void waitBegin(Object lock) {
        if (on) {
            if (FissureEngine.ATOMIZER) {
                FissureThread.waitBegins(lock);
            }
            if (FissureEngine.SYNCHRONIZATION) {
                FissureThread.waitReleases(lock);
            }
        }
    }

    /** The same in code outside of the JDK: from now on the monitor orders accesses. */
    public static void guardedWaitBegin(Object lock) {
        if (on) {
            FissureThread.guards(lock);
            waitBegin(lock);
        }
    }

    public static void waitEnd(Object lock) {
        if (on) {
            FissureThread.waits();
            if (FissureEngine.SYNCHRONIZATION) {
                FissureThread.waitAcquires(lock);
            }
        }
    }

    /** Threads wait for the lock, or may do so. */
    public static void notifies(Object lock) {
        if (on && lock != null) {
            FissureThread.guards(lock);
        }
    }

    /** A condition of a lock was made, so that threads may wait for it. The JDK's own conditions are parts of known synchronizers. */
    public static void conditionMade(Object lock) {
        if (on && FissureEngine.isCalledFromOutside()) {
            FissureThread.guards(lock);
        }
    }

    /** A synchronizer that is not the JDK's is about to publish its state. */
    public static void stateReleased(Object synchronizer) {
        if (on && !FissureOrder.isOfTheJdk(synchronizer)) {
            FissureOrder.releaseShared(synchronizer);
        }
    }

    /** A synchronizer that is not the JDK's has read its state. */
    public static void stateAcquired(Object synchronizer) {
        if (on && !FissureOrder.isOfTheJdk(synchronizer)) {
            FissureOrder.acquireState(synchronizer);
        }
    }

    public static void locked(Object lock) {
        if (on) {
            FissureThread.acquireCalled(lock, FissureThread.EXCLUSIVE);
        }
    }

    public static void tryLocked(boolean got, Object lock) {
        if (on) {
            FissureThread.tried(got, lock, FissureThread.EXCLUSIVE);
        }
    }

    public static void readLocked(Object lock) {
        if (on) {
            FissureThread.acquireCalled(lock, FissureThread.SHARED);
        }
    }

    public static void tryReadLocked(boolean got, Object lock) {
        if (on) {
            FissureThread.tried(got, lock, FissureThread.SHARED);
        }
    }

    public static void unlocked(Object lock) {
        if (on) {
            FissureThread.release(lock);
        }
    }

    public static void readWriteLockMade(Object lock) {
        if (on) {
            FissureLocks.readWriteLock(lock);
        }
    }

    public static void stampedWrite(long stamp, Object lock) {
        if (on) {
            FissureThread.tried(stamp != 0L, lock, FissureThread.EXCLUSIVE);
        }
    }

    public static void stampedRead(long stamp, Object lock) {
        if (on) {
            FissureThread.tried(stamp != 0L, lock, FissureThread.SHARED);
        }
    }

    /**
     * Reads between an optimistic stamp and its validation count as protected, because a failed validation discards them. This holds
     * for a zero stamp as well.
     */
    public static void stampedOptimistic(Object lock) {
        if (on) {
            FissureThread.acquireOptimistic(lock);
        }
    }

    public static void stampedConvertedToWrite(long stamp, Object lock) {
        if (stamp != 0L && on) {
            FissureThread.convert(lock, FissureThread.EXCLUSIVE);
        }
    }

    public static void stampedConvertedToRead(long stamp, Object lock) {
        if (stamp != 0L && on) {
            FissureThread.convert(lock, FissureThread.SHARED);
        }
    }

    public static void stampedConvertedToOptimistic(long stamp, Object lock) {
        if (stamp != 0L && on) {
            FissureThread.convert(lock, FissureThread.OPTIMISTIC);
        }
    }

    public static void stampedValidate(Object lock) {
        if (on) {
            FissureThread.releaseOptimistic(lock);
        }
    }

    public static void released(Object token) {
        if (on) {
            FissureOrder.release(token);
        }
    }

    public static void acquired(Object token) {
        if (on) {
            FissureOrder.acquire(token, token);
        }
    }

    /** The thread arrives at a barrier. */
    public static void roundEntered(Object barrier) {
        if (on) {
            FissureRounds.entered(barrier);
        }
    }

    /** The round of the barrier at which the thread arrived is over. */
    public static void roundEnded(Object barrier) {
        if (on) {
            FissureRounds.ended(barrier);
        }
    }

    /** An element was taken out of a collection. */
    public static void taken(Object element, Object collection) {
        if (on) {
            FissureOrder.acquire(element, collection);
        }
    }

    /** A value that a collection computed or already contained: an acquire and a release in one. */
    public static void computed(Object value, Object collection) {
        if (on) {
            FissureOrder.acquire(value, collection);
            FissureOrder.release(value);
        }
    }

    /** The same as {@link #acquired} if code outside of the JDK made the call. */
    public static void sharedAcquired(Object token) {
        if (on) {
            FissureOrder.acquireShared(token, token);
        }
    }

    /** The same as {@link #released} for state that does not hand over what it belongs to: maps, atomics and the like. */
    public static void sharedReleased(Object token) {
        if (on) {
            FissureOrder.releaseShared(token);
        }
    }

    public static void sharedTaken(Object element, Object collection) {
        if (on) {
            FissureOrder.acquireShared(element, collection);
        }
    }

    public static void sharedComputed(Object value, Object collection) {
        if (on) {
            FissureOrder.acquireShared(value, collection);
            FissureOrder.releaseShared(value);
        }
    }

    public static void completes(Object task) {
        if (on) {
            FissureOrder.completes(task);
        }
    }
}
