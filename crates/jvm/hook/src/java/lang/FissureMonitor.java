package java.lang;

/**
 * Passes events to the monitor script of {@code fissure watch}. Rewriting decides which join points call this class. Points for which
 * it could not decide that are resolved once by native code, which marks those that the script does not use.
 */
final class FissureMonitor {
    /** The entry of the engine's table for a site that the script does not use. */
    private static final int UNWANTED = -1;
    private static final Object[] NOTHING = {};
    private static final int[] NO_LOCKS = {};
    /** If a thread holds more locks than this, only the outermost ones are passed on. */
    private static final int MOST_LOCKS = 1 << 10;

    private FissureMonitor() {}

    /** Adds a reference to the arguments of the next join point. */
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

    /** Reports an access by a handle both before and after, with one call. */
    static void around(Object object, int index, int site) {
        at(object, index, site, false);
        at(object, index, site, true);
    }
}
