package java.lang;

import java.util.concurrent.CountedCompleter;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * The hooks of controlled runs for {@code java.util.concurrent}: locks that block by parking, and hand-overs, which order what threads do.
 */
public abstract class FissureConcurrent extends FissureIterated {
    FissureConcurrent() {}

    // Happens-before edges other than those of monitors, thread starts and wake-ups.

    public static void threadJoined(Object ended) {
        long self = self();
        long other = ((Thread) ended).fissureControl;
        if (self > 0L && other > 0L && FissureConductor.hasEnded(other)) {
            FissureConductor.joins(self, other);
        }
    }

    public static void released(Object token) {
        long self = on && token != null ? self() : -1L;
        if (self > 0L) {
            FissureConductor.handsOver(self, FissureObjects.numberOf(token));
        }
    }

    public static void acquired(Object token) {
        takeOver(token, true);
    }

    /** An element was taken out of a collection, possibly without waiting for it. */
    public static void taken(Object element, Object collection) {
        takeOver(element, false);
    }

    public static void completes(Object task) {
        released(((CountedCompleter<?>) task).getRoot());
    }

    private static void takeOver(Object token, boolean waits) {
        long self = on && token != null ? self() : -1L;
        if (self > 0L) {
            FissureConductor.takesOver(self, FissureObjects.numberOf(token), waits);
        }
    }

    // Locks of java.util.concurrent, which block by parking.

    public static void attempts(Object lock) {
        long self = self();
        if (self > 0L) {
            FissureConductor.attempt(self, FissureNumbers.of(lock));
        }
    }

    public static void locked(Object lock) {
        got(lock, false);
    }

    public static void readLocked(Object lock) {
        got(lock, true);
    }

    public static void tryLocked(boolean got, Object lock) {
        if (got) {
            got(lock, false);
        }
    }

    public static void tryReadLocked(boolean got, Object lock) {
        if (got) {
            got(lock, true);
        }
    }

    public static void stampedWrite(long stamp, Object lock) {
        if (stamp != 0L) {
            got(lock, false);
        }
    }

    public static void stampedRead(long stamp, Object lock) {
        if (stamp != 0L) {
            got(lock, true);
        }
    }

    private static void got(Object lock, boolean shared) {
        long self = self();
        if (self > 0L) {
            FissureConductor.acquired(self, FissureNumbers.of(lock), shared);
        }
    }

    /** Gives both halves of a new read-write lock the same number, because they are one lock. */
    public static void readWriteLockMade(Object made) {
        if (!on) {
            return;
        }
        ReentrantReadWriteLock lock = (ReentrantReadWriteLock) made;
        Object write = lock.writeLock();
        Object read = lock.readLock();
        if (write != null && read != null) {
            FissureNumbers.addHalves(lock, write, read);
        }
    }

    public static void unlocked(Object lock) {
        long self = self();
        if (self > 0L) {
            FissureConductor.release(self, FissureNumbers.of(lock));
        }
    }

    public static void semaphoreMade(Object made) {
        if (on && ((Semaphore) made).availablePermits() == 1) {
            FissureNumbers.markPermit(made);
        }
    }

    public static void attemptsPermit(Object semaphore) {
        if (on) {
            if (FissureNumbers.isPermit(semaphore)) {
                attempts(semaphore);
            } else {
                steps(semaphore);
            }
        }
    }

    public static void permitted(Object semaphore) {
        if (on && FissureNumbers.isPermit(semaphore)) {
            got(semaphore, false);
        }
    }

    public static void tryPermitted(boolean got, Object semaphore) {
        if (got) {
            permitted(semaphore);
        }
    }

    public static void permitReturned(Object semaphore) {
        if (on && FissureNumbers.isPermit(semaphore)) {
            long self = self();
            if (self > 0L) {
                FissureConductor.giveBack(self, FissureNumbers.of(semaphore));
            }
        } else {
            steps(semaphore);
        }
    }

    /** A scheduling point before any other operation that other threads can observe. */
    public static void steps(Object object) {
        long self = self();
        if (self > 0L) {
            FissureConductor.attempt(self, -1);
        }
    }
}
