package java.lang;

/**
 * The shadow words of the elements of an array, or of a range of them.
 *
 * <p>Few different words occur in one array, because loops treat its elements alike. Each element therefore has one byte, its mark: the
 * position of its word in a list. A list that gets longer is replaced by a copy, with the same marks, so that whoever still uses the
 * shorter one only has to look up marks beyond its end. {@link FissureArrays} replaces the marks when the list is full.
 *
 * <p>Rewritten methods keep the instance that they used last in a local variable, so that a loop over an array looks it up once.
 */
public final class FissureElements {
    private final FissureArrays.Shadow shadow;
    /** The index of the first element. */
    final int from;
    final byte[] marks;
    /** The first word is that of elements without accesses. */
    final long[] words;
    /** How many words are in use; only changed under the lock of the shadow. */
    int count;

    FissureElements(FissureArrays.Shadow shadow, int from, byte[] marks, long[] words, int count) {
        this.shadow = shadow;
        this.from = from;
        this.marks = marks;
        this.words = words;
        this.count = count;
    }

    /** Whether the marks are still in use after one was changed. Those that are replaced are first taken out of use, and then copied. */
    boolean isCurrent(int index) {
        FissureElements current = shadow.part(index);
        return current != null && current.marks == marks;
    }

    /** Whether an access by a thread leaves the word of an element unchanged, as far as the thread's own words tell. */
    boolean isSettled(int index, long mine, long mask, long[] settled, int kind) {
        int at = index - from;
        if (at < 0 || at >= marks.length) {
            return false;
        }
        int mark = marks[at] & 0xFF;
        if (mark >= words.length) {
            return false;
        }
        long word = words[mark];
        return ((word ^ mine) & mask) == 0L || FissureHeld.isSettled(settled, word, kind);
    }
}
