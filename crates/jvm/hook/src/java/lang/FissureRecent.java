package java.lang;

/** The arrays that one thread used last, and how it changed the words of their elements. */
abstract class FissureRecent extends FissureHeld {
    private static final int RECENT_ARRAYS = 256;
    private static final int TRANSITIONS = 64;
    // Shared until a thread needs its own.
    private static final FissureArrays.Shadow[] NO_ARRAYS = {null};

    /** Address of off-heap counters: acquires, locations, accesses that the analysis judged, and executions of blocks. */
    final long counters;

    /** A cache by identity. */
    private FissureArrays.Shadow[] arrays = NO_ARRAYS;
    /** By site, how the words of array elements changed last. */
    private FissureArrays.Transition[] transitions;

    FissureRecent(int id, int segment) {
        super(id, segment);
        this.counters = FissureEngine.COUNTERS + ((long) Math.min(id, FissureEngine.COUNTED_THREADS - 1) << 5);
    }

    /** Whether this thread's accesses are currently not checked. */
    abstract boolean isQuiet();

    /** The shadow of an array, if it is in this thread's cache. */
    FissureArrays.Shadow recent(Object array) {
        FissureArrays.Shadow shadow = arrays[System.identityHashCode(array) & arrays.length - 1];
        return shadow != null && shadow.get() == array ? shadow : null;
    }

    /** The words of a range of elements, if the array is in this thread's cache. */
    FissureElements recentPart(Object array, int index) {
        FissureArrays.Shadow shadow = recent(array);
        return shadow == null || index < 0 || index >= shadow.length ? null : shadow.part(index);
    }

    /** Whether an access changes an element's word like the last one at its site, and if so, changes it. */
    boolean repeats(FissureElements part, int index, int site, boolean write) {
        FissureArrays.Transition last = transitions == null ? null : transitions[site & TRANSITIONS - 1];
        return last != null
                && !isQuiet()
                && last.marks == part.marks
                && last.version == version()
                && last.access == access(knownSet(write), site, write)
                && FissureArrays.repeat(part, index, last, counters);
    }

    /** Remembers the change of an element's word, unless each such access has to be examined. */
    void remember(FissureElements part, int from, int to, long word, int set, int site, boolean write) {
        int state = (int) (word >>> FissureEngine.STATE_SHIFT);
        if (state > FissureEngine.DONE) {
            return;
        }
        if (transitions == null) {
            transitions = new FissureArrays.Transition[TRANSITIONS];
        }
        FissureArrays.Transition last = transitions[site & TRANSITIONS - 1];
        if (last == null) {
            last = new FissureArrays.Transition();
            transitions[site & TRANSITIONS - 1] = last;
        }
        last.marks = part.marks;
        last.version = version();
        last.access = access(set, site, write);
        last.from = (byte) from;
        last.to = (byte) to;
        last.isJudged = state >= FissureEngine.SHARED;
    }

    /** The shadow of an array. */
    FissureArrays.Shadow shadow(Object array) {
        FissureArrays.Shadow shadow = recent(array);
        if (shadow == null) {
            if (arrays == NO_ARRAYS) {
                arrays = new FissureArrays.Shadow[RECENT_ARRAYS];
            }
            shadow = FissureArrays.find(counters, array);
            arrays[System.identityHashCode(array) & arrays.length - 1] = shadow;
        }
        return shadow;
    }
}
