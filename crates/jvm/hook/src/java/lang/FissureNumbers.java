package java.lang;

/** Numbers of locks in controlled runs. Not in the hook class, which the JVM uses before it can initialize a table. */
final class FissureNumbers {
    private static final FissureTable TABLE = new FissureTable();
    private static FissureTable.Numbered last;
    private static FissureTable.Numbered other;

    private FissureNumbers() {}

    /** Forgets all locks. */
    static void clear() {
        TABLE.clear();
        last = null;
        other = null;
    }

    /** The number of a lock. The last two are cached: the identity hash of a locked object is slow, and locks are often reused. */
    static int of(Object lock) {
        FissureTable.Numbered last = FissureNumbers.last;
        if (last != null && last.get() == lock) {
            return last.number;
        }
        FissureTable.Numbered other = FissureNumbers.other;
        if (other != null && other.get() == lock) {
            return other.number;
        }
        FissureTable.Numbered known = (FissureTable.Numbered) TABLE.find(lock);
        if (known == null) {
            return add(lock).number;
        }
        FissureNumbers.other = last;
        FissureNumbers.last = known;
        return known.number;
    }

    /** The number of a lock that is internal to the JDK. The objects of threads are the program's, although the JDK locks them. */
    static int ofInternal(Object lock) {
        FissureTable.Numbered last = FissureNumbers.last;
        if ((last == null || last.get() != lock) && !(lock instanceof Thread)) {
            FissureConductor.hashInternal(lock);
        }
        return of(lock);
    }

    /** Gives both halves of a read-write lock one number. */
    static void addHalves(Object lock, Object write, Object read) {
        synchronized (TABLE.guard) {
            if (TABLE.find(write) == null) {
                int number = FissureConductor.newLock(lock);
                TABLE.add(new FissureTable.Numbered(write, number));
                TABLE.add(new FissureTable.Numbered(read, number));
            }
        }
    }

    /** Notes that a semaphore has one permit and is therefore treated as a lock. */
    static void markPermit(Object semaphore) {
        add(semaphore).isPermit = true;
    }

    static boolean isPermit(Object semaphore) {
        FissureTable.Numbered known = (FissureTable.Numbered) TABLE.find(semaphore);
        return known != null && known.isPermit;
    }

    private static FissureTable.Numbered add(Object lock) {
        synchronized (TABLE.guard) {
            FissureTable.Numbered known = (FissureTable.Numbered) TABLE.find(lock);
            if (known == null) {
                known = new FissureTable.Numbered(lock, FissureConductor.newLock(lock));
                TABLE.add(known);
            }
            return known;
        }
    }
}
