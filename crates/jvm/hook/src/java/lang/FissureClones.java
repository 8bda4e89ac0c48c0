package java.lang;

/**
 * Resets the shadow words of copies that {@code Object.clone} makes. The copy is a new object, but its shadow fields are copied from
 * the original and hold the original's access history.
 */
final class FissureClones {
    /** The offsets of the shadow words in the objects of a class. */
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
