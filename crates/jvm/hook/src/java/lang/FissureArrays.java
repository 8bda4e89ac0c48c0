package java.lang;

import java.lang.ref.ReferenceQueue;
import jdk.internal.misc.Unsafe;

/**
 * The shadow words of array elements. They are kept in {@link FissureElements}, one for a whole array as long as its elements have few
 * different words, and otherwise one for each of several ranges.
 */
final class FissureArrays {
    static final class Shadow extends FissureTable.Entry {
        final int length;
        /** The array is too long, or there was no memory for its words: it is not checked. */
        volatile boolean abandoned;
        /** The elements, in ranges of equal size; null while their marks are replaced. */
        volatile FissureElements[] parts;

        Shadow(Object array, int length) {
            super(array, COLLECTED);
            this.length = length;
        }

        /** The range of an element; null while it is replaced. */
        FissureElements part(int index) {
            FissureElements[] parts = this.parts;
            return parts == null ? null : parts.length == 1 ? parts[0] : parts[index / parts[0].marks.length];
        }
    }

    /** A change of mark that a thread has made: most elements that a loop accesses change in the same way. */
    static final class Transition {
        byte[] marks;
        long access;
        int version;
        byte from;
        byte to;
        /** Whether the analysis judged the first such access. */
        boolean isJudged;
    }

    /** Longer arrays are only counted, not checked: their marks would take an eighth of the heap. */
    private static final long LONGEST = Math.min(1L << 30, Runtime.getRuntime().maxMemory() >>> 3);
    /** A range of this size has no more words than there are marks. */
    private static final int SMALLEST = 128;
    private static final int MARKS = 256;
    /** If more words than this are in use, the marks would soon be replaced again. */
    private static final int CROWDED = 192;
    private static final long BYTES = baseOffset(byte[].class);
    private static final FissureTable TABLE = new FissureTable();
    /** The shadows of arrays that were collected: their marks are dropped before the table forgets them. */
    private static final ReferenceQueue<Object> COLLECTED = new ReferenceQueue<>();
    private static final Unsafe U = FissureEngine.U;

    private FissureArrays() {}

    /** The offset of an array's first element. By reflection, because the result type of the method depends on the Java version. */
    static int baseOffset(Class<?> type) {
        try {
            Object offset =
                    Unsafe.class.getMethod("arrayBaseOffset", Class.class).invoke(FissureEngine.U, type);
            return ((Number) offset).intValue();
        } catch (ReflectiveOperationException error) {
            throw new InternalError(error);
        }
    }

    static void access(Object array, int index, int site, boolean write) {
        if (write) {
            write(array, index, site);
        } else {
            read(array, index, site);
        }
    }

    /** Handles a read of an element whose words the caller does not know; returns them. */
    static FissureElements read(Object array, int index, int site) {
        Thread current = Thread.currentThread();
        FissureThread thread = current.fissureState;
        if (thread == null || FissureEngine.MONITOR) {
            return unchecked(thread, array, index, site);
        }
        FissureElements part = thread.recentPart(array, index);
        if (part != null
                && part.isSettled(
                        index, current.fissureRead, FissureHook.READ_MASK, current.fissureSettled, FissureHeld.READS)) {
            return part;
        }
        return slowAccess(thread, part, array, index, site, false);
    }

    /** The same for a write. */
    static FissureElements write(Object array, int index, int site) {
        Thread current = Thread.currentThread();
        FissureThread thread = current.fissureState;
        if (thread == null || FissureEngine.MONITOR) {
            return unchecked(thread, array, index, site);
        }
        FissureElements part = thread.recentPart(array, index);
        if (part != null
                && part.isSettled(
                        index,
                        current.fissureWrite,
                        FissureHook.WRITE_MASK,
                        current.fissureSettled,
                        FissureHeld.WRITES)) {
            return part;
        }
        return slowAccess(thread, part, array, index, site, true);
    }

    private static FissureElements unchecked(FissureThread thread, Object array, int index, int site) {
        if (thread != null) {
            FissureMonitor.around(array, index, site);
        }
        return null;
    }

    private static FissureElements slowAccess(
            FissureThread thread, FissureElements recent, Object array, int index, int site, boolean write) {
        if (recent != null && thread.repeats(recent, index, site, write)) {
            return recent;
        }
        if (thread.isQuiet()) {
            return null;
        }
        thread.busy = true;
        try {
            Shadow shadow = thread.shadow(array);
            if (shadow.abandoned || index < 0 || index >= shadow.length) {
                return null;
            }
            return access(thread, shadow, array, index, site, write);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
            return null;
        } finally {
            thread.busy = false;
        }
    }

    private static FissureElements access(
            FissureThread thread, Shadow shadow, Object array, int index, int site, boolean write) {
        int set = thread.set(null, write);
        for (;;) {
            FissureElements part = shadow.part(index);
            if (part == null) {
                awaitParts(shadow);
                continue;
            }
            long offset = BYTES + (index - part.from);
            int mark = U.getByteVolatile(part.marks, offset) & 0xFF;
            if (mark >= part.words.length) {
                continue;
            }
            long word = part.words[mark];
            if (thread.settlesAndRemembers(null, word, write)) {
                return part;
            }
            thread.isRacy = false;
            thread.accesses();
            long next;
            if (word == 0L) {
                thread.sample(site);
                next = FissureEngine.first(thread, set, site, write);
            } else {
                next = FissureEngine.next(thread, array, word, set, site, write);
            }
            if (next == word) {
                thread.remembersSettled(next, write);
                log(thread, array, part, next, set, site, write);
                return part;
            }
            int to = markOf(shadow, part, index, next);
            if (to >= 0
                    && U.compareAndSetByte(part.marks, offset, (byte) mark, (byte) to)
                    && part.isCurrent(index)) {
                thread.remembersSettled(next, write);
                thread.remember(part, mark, to, next, set, site, write);
                log(thread, array, part, next, set, site, write);
                return part;
            }
        }
    }

    private static void log(
            FissureThread thread, Object array, FissureElements part, long next, int set, int site, boolean write) {
        if (FissureEngine.ATOMIZER) {
            thread.logAccess(array, part.words, next, set, site, write);
        }
    }

    /**
     * Changes a mark as the same thread has changed the mark of another element before; false if the element has another mark, or if the
     * marks are being replaced, so that the change may be lost.
     */
    static boolean repeat(FissureElements part, int index, Transition known, long counters) {
        int at = index - part.from;
        byte[] marks = part.marks;
        if (at < 0
                || at >= marks.length
                || marks[at] != known.from
                || !U.compareAndSetByte(marks, BYTES + at, known.from, known.to)) {
            return false;
        }
        if (known.isJudged) {
            FissureEngine.increment(counters + 16L);
        }
        return part.isCurrent(index);
    }

    private static void awaitParts(Shadow shadow) {
        synchronized (shadow) {
            if (shadow.parts == null && !shadow.abandoned) {
                throw new InternalError("an array has lost its shadow");
            }
        }
    }

    /** The mark of a word, which is added if it is new; -1 if the words or marks had to be replaced, so that the caller must look again. */
    private static int markOf(Shadow shadow, FissureElements part, int index, long word) {
        synchronized (shadow) {
            if (shadow.part(index) != part) {
                return -1;
            }
            for (int mark = 1; mark < part.count; mark++) {
                if (part.words[mark] == word) {
                    return mark;
                }
            }
            if (part.count < part.words.length) {
                part.words[part.count] = word;
                return part.count++;
            }
            if (part.count < MARKS) {
                grow(shadow, part);
            } else {
                replace(shadow, part);
            }
            return -1;
        }
    }

    private static void grow(Shadow shadow, FissureElements part) {
        long[] words = new long[Math.min(MARKS, part.count * 4)];
        System.arraycopy(part.words, 0, words, 0, part.count);
        FissureElements[] parts = shadow.parts.clone();
        parts[part.from / parts[0].marks.length] = new FissureElements(shadow, part.from, part.marks, words, part.count);
        shadow.parts = parts;
    }

    /** Drops the words that no element has any more. If too many are left, each range is divided. */
    private static void replace(Shadow shadow, FissureElements part) {
        FissureElements[] old = shadow.parts;
        FissureElements[] parts = null;
        shadow.parts = null;
        U.fullFence();
        try {
            FissureElements compact = compact(shadow, part);
            if (compact.count <= CROWDED || part.marks.length <= SMALLEST) {
                parts = old.clone();
                parts[part.from / old[0].marks.length] = compact;
            } else {
                for (int size = part.marks.length; parts == null; ) {
                    size = Math.max(SMALLEST, (size + 7) / 8);
                    parts = divided(shadow, old, size);
                }
            }
        } finally {
            // Another attempt at every access would run the garbage collector each time.
            shadow.abandoned = parts == null;
            shadow.parts = parts == null ? old : parts;
        }
    }

    /** Divides the elements into ranges of a size; null if a range has more words than there are marks. */
    private static FissureElements[] divided(Shadow shadow, FissureElements[] old, int size) {
        FissureElements[] parts = new FissureElements[(shadow.length + size - 1) / size];
        for (int i = 0; i < parts.length; i++) {
            int from = i * size;
            int end = Math.min(shadow.length, from + size);
            byte[] marks = new byte[end - from];
            long[] words = new long[8];
            int count = 1;
            for (int index = from; index < end; index++) {
                FissureElements source = old[index / old[0].marks.length];
                long word = source.words[source.marks[index - source.from] & 0xFF];
                int mark = find(words, count, word);
                if (mark < 0) {
                    if (count == MARKS) {
                        return null;
                    }
                    if (count == words.length) {
                        words = java.util.Arrays.copyOf(words, count * 2);
                    }
                    mark = count++;
                    words[mark] = word;
                }
                marks[index - from] = (byte) mark;
            }
            parts[i] = new FissureElements(shadow, from, marks, words, count);
        }
        return parts;
    }

    private static int find(long[] words, int count, long word) {
        for (int mark = 0; mark < count; mark++) {
            if (words[mark] == word) {
                return mark;
            }
        }
        return -1;
    }

    private static FissureElements compact(Shadow shadow, FissureElements part) {
        byte[] marks = new byte[part.marks.length];
        long[] words = new long[MARKS];
        int[] moved = new int[MARKS];
        int count = 1;
        for (int at = 0; at < marks.length; at++) {
            int mark = part.marks[at] & 0xFF;
            if (mark != 0 && moved[mark] == 0) {
                words[count] = part.words[mark];
                moved[mark] = count++;
            }
            marks[at] = (byte) moved[mark];
        }
        return new FissureElements(shadow, part.from, marks, words, count);
    }

    private static FissureElements[] whole(Shadow shadow) {
        try {
            return new FissureElements[] {
                new FissureElements(shadow, 0, new byte[shadow.length], new long[4], 1)
            };
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
            return null;
        }
    }

    /** The shadow of an array, created if there is none. */
    static Shadow find(long counters, Object array) {
        FissureTable.Entry entry = TABLE.find(array);
        if (entry != null) {
            return (Shadow) entry;
        }
        int length = java.lang.reflect.Array.getLength(array);
        for (Object dead = COLLECTED.poll(); dead != null; dead = COLLECTED.poll()) {
            ((Shadow) dead).abandoned = true;
            ((Shadow) dead).parts = null;
        }
        synchronized (TABLE.guard) {
            entry = TABLE.find(array);
            if (entry == null) {
                Shadow shadow = new Shadow(array, length);
                if (length > LONGEST) {
                    shadow.abandoned = true;
                    FissureEngine.arrayTooLarge();
                } else {
                    shadow.parts = whole(shadow);
                    shadow.abandoned = shadow.parts == null;
                }
                TABLE.add(shadow);
                entry = shadow;
                FissureEngine.increment(counters + 8L);
            }
            return (Shadow) entry;
        }
    }
}
