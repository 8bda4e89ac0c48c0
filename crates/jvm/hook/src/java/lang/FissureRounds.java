package java.lang;

import java.lang.reflect.Field;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Phaser;

/**
 * The rounds of barriers. A thread that waits at a barrier comes after all that arrived in the same round. When it goes on at last, others
 * may have arrived in the next round already, and these have nothing to do with it.
 */
final class FissureRounds {
    /** The rounds of a phaser, by phase; a thread asks only for the current one and the one before. */
    private static final class Phases extends FissureTable.Entry {
        private static final int KEPT = 8;
        private final int[] phases = new int[KEPT];
        private final Object[] rounds = new Object[KEPT];

        Phases(Object phaser) {
            super(phaser);
        }

        synchronized Object round(int phase) {
            int at = phase & KEPT - 1;
            if (rounds[at] == null || phases[at] != phase) {
                phases[at] = phase;
                rounds[at] = new Object();
            }
            return rounds[at];
        }
    }

    private static final FissureTable PHASERS = new FissureTable();
    /** The field of a barrier that holds an object for each round; null if this JDK has none. */
    private static final Field GENERATION = generation();

    private FissureRounds() {}

    static void entered(Object barrier) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.busy) {
            return;
        }
        thread.busy = true;
        try {
            thread.round = round(barrier, 0);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            thread.busy = false;
        }
        FissureOrder.release(thread.round);
    }

    static void ended(Object barrier) {
        FissureThread thread = Thread.currentThread().fissureState;
        if (thread == null || thread.busy) {
            return;
        }
        Object round = thread.round;
        thread.round = null;
        FissureOrder.acquire(round, barrier);
        if (barrier instanceof Phaser) {
            // A thread that waits for a phase which has ended already did not arrive in it.
            Object before = null;
            thread.busy = true;
            try {
                before = round(barrier, -1);
            } catch (OutOfMemoryError error) {
                FissureEngine.outOfMemory();
            } finally {
                thread.busy = false;
            }
            FissureOrder.acquire(before, barrier);
        }
    }

    /** An object for the current round of a barrier, or for a phase before it. */
    private static Object round(Object barrier, int phase) {
        if (barrier instanceof Phaser) {
            return phases(barrier).round(((Phaser) barrier).getPhase() + phase);
        }
        try {
            Object generation = GENERATION == null ? null : GENERATION.get(barrier);
            return generation == null ? barrier : generation;
        } catch (IllegalAccessException error) {
            return barrier;
        }
    }

    private static Phases phases(Object phaser) {
        FissureTable.Entry entry = PHASERS.find(phaser);
        if (entry == null) {
            synchronized (PHASERS.guard) {
                entry = PHASERS.find(phaser);
                if (entry == null) {
                    entry = new Phases(phaser);
                    PHASERS.add(entry);
                }
            }
        }
        return (Phases) entry;
    }

    private static Field generation() {
        try {
            Field field = CyclicBarrier.class.getDeclaredField("generation");
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException | RuntimeException error) {
            return null;
        }
    }
}
