package java.lang;

/**
 * Copies that {@code Object.clone} makes. A copy is a new object, but the words of its fields are copied with it, and say who
 * accessed the original: they are set back.
 */
final class FissureClones {
    /** Where the words lie in the objects of a class. */
    private static final class Layout extends FissureTable.Entry {
        final int[] offsets;

        Layout(Class<?> type, int[] offsets) {
            super(type);
            this.offsets = offsets;
        }
    }

    private static final int[] NONE = {};
    private static final FissureTable LAYOUTS = new FissureTable();

    private FissureClones() {}

    static void forget(Object copy) {
        int[] offsets = offsets(copy.getClass());
        for (int i = 0; i < offsets.length; i++) {
            FissureEngine.U.putLong(copy, (long) offsets[i], 0L);
        }
    }

    private static int[] offsets(Class<?> type) {
        FissureTable.Entry known = LAYOUTS.find(type);
        return known != null ? ((Layout) known).offsets : add(type);
    }

    private static int[] add(Class<?> type) {
        FissureThread thread = Thread.currentThread().fissureState;
        boolean wasBusy = thread == null || thread.busy;
        if (!wasBusy) {
            thread.busy = true;
        }
        try {
            int[] offsets = FissureEngine.shadows(type);
            if (offsets == null) {
                FissureEngine.outOfMemory();
                return NONE;
            }
            synchronized (LAYOUTS.guard) {
                if (LAYOUTS.find(type) == null) {
                    LAYOUTS.add(new Layout(type, offsets));
                }
            }
            return offsets;
        } finally {
            if (!wasBusy) {
                thread.busy = false;
            }
        }
    }
}
