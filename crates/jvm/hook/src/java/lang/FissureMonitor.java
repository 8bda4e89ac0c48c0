package java.lang;

/**
 * Hands events to a monitor that the user wrote. Which points call this is decided when classes are rewritten; of points about which
 * that could not be decided, native code says so once, and they are passed over from then on.
 */
final class FissureMonitor {
    /** Stands in the engine's table for a site that nobody asks about. */
    private static final int UNWANTED = -1;
    private static final Object[] NOTHING = {};
    private static final int[] NO_LOCKS = {};
    /** Beyond so many locks the outermost are told. */
    private static final int MOST_LOCKS = 1 << 10;

    private FissureMonitor() {}

    /** A reference that is handed over at the next point. */
    static void argument(Object value) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self == null || self.busy) {
            return;
        }
        self.busy = true;
        try {
            Object[] before = self.arguments == null ? NOTHING : self.arguments;
            Object[] more = new Object[before.length + 1];
            for (int i = 0; i < before.length; i++) {
                more[i] = before[i];
            }
            more[before.length] = value;
            self.arguments = more;
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            self.busy = false;
        }
    }

    static void at(Object object, int index, int site, boolean after) {
        FissureThread self = Thread.currentThread().fissureState;
        if (self == null || self.busy) {
            return;
        }
        Object[] arguments = self.arguments;
        self.arguments = null;
        if (FissureEngine.U.getInt(FissureEngine.TABLE + ((long) site << 2)) == UNWANTED) {
            return;
        }
        self.busy = true;
        try {
            int[] locks = NO_LOCKS;
            if (FissureEngine.MONITORS_LOCKS && self.heldLocks() > 0) {
                locks = new int[Math.min(self.heldLocks(), MOST_LOCKS)];
                for (int i = 0; i < locks.length; i++) {
                    locks[i] = self.lockNumber(i);
                }
            }
            FissureEngine.monitorEvent(
                    self.id, self.segment, site, index, after, self.isInitializing(), object, arguments, locks);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            self.busy = false;
        }
    }

    /** Both sides of an access by a handle, which are the same. */
    static void around(Object object, int index, int site) {
        at(object, index, site, false);
        at(object, index, site, true);
    }
}
