package java.lang;

/**
 * Numbers of the objects whose fields, elements or contents are accessed in controlled runs. Not in the hook class, which the JVM uses
 * before it can initialize a table.
 */
final class FissureObjects {
    private static final FissureTable TABLE = new FissureTable();
    private static int count;

    private FissureObjects() {}

    /** Forgets all objects. */
    static void clear() {
        TABLE.clear();
        count = 0;
        used = new int[16];
    }

    static int numberOf(Object object) {
        FissureTable.Entry entry = TABLE.find(object);
        if (entry == null) {
            synchronized (TABLE.guard) {
                entry = TABLE.find(object);
                if (entry == null) {
                    entry = new FissureTable.Numbered(object, ++count);
                    TABLE.add(entry);
                }
            }
        }
        return ((FissureTable.Numbered) entry).number;
    }

    /** By thread, the number of the collection that it used last. */
    private static int[] used = new int[16];

    /**
     * The number of a collection that a thread uses. An iterator gets the number of its collection, which is the one that the thread used
     * right before it first used the iterator. Usually only one thread is here at a time; if two are, the update of one of them may
     * be lost.
     */
    static int numberOfUsed(Object collection, long thread) {
        int slot = (int) thread;
        int[] known = used;
        if (slot >= known.length) {
            known = java.util.Arrays.copyOf(known, slot * 2);
            used = known;
        }
        if (collection instanceof java.util.Iterator && known[slot] != 0 && knownNumberOf(collection) == 0) {
            synchronized (TABLE.guard) {
                TABLE.add(new FissureTable.Numbered(collection, known[slot]));
            }
        }
        return known[slot] = numberOf(collection);
    }

    /** The number of an object that was accessed before; 0 for any other. */
    static int knownNumberOf(Object object) {
        FissureTable.Entry entry = TABLE.find(object);
        return entry == null ? 0 : ((FissureTable.Numbered) entry).number;
    }

    /** Whether an object has elements or contents. */
    static boolean isContainer(Object object) {
        return object instanceof java.util.Collection
                || object instanceof java.util.Map
                || object instanceof AbstractStringBuilder
                || object instanceof java.util.BitSet
                || object instanceof java.util.Dictionary
                || object != null && object.getClass().isArray();
    }
}
