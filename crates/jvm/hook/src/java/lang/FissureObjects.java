package java.lang;

/**
 * Numbers of the objects whose fields, elements or contents are accessed under control. Apart from the hook class, which is there
 * before a table can be.
 */
final class FissureObjects {
    private static final FissureTable TABLE = new FissureTable();
    private static int count;

    private FissureObjects() {}

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
