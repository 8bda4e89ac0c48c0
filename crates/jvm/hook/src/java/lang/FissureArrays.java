package java.lang;

/**
 * The shadow words of array elements.
 *
 * <p>As long as only one thread accesses an array, always under the same locks, one word stands for all its elements, and two bits
 * per element record which were read and written. The first access that differs expands this to one word per element, which
 * starts with the state recorded so far.
 */
final class FissureArrays {
    static final class Shadow extends FissureTable.Entry {
        final int length;
        /** The word of all elements accessed so far, without its site; used until {@link #words} is set. */
        long common;
        long[] read;
        long[] written;
        /** The sites of the first read and of the first write. */
        int readSite;
        int writeSite;
        /** The array is too long, or there was no memory for {@link #words}: it is no longer checked. */
        volatile boolean abandoned;
        volatile long[] words;

        Shadow(Object array, int length) {
            super(array);
            this.length = length;
        }
    }

    /** Longer arrays are only counted, not checked: their shadow words would take an eighth of the heap. */
    private static final long LONGEST = Math.min(1L << 24, Runtime.getRuntime().maxMemory() >>> 6);

    private static final FissureTable TABLE = new FissureTable();
    private static final long WORDS = baseOffset(long[].class);
    private static final long OWNER = (long) FissureEngine.OWNER_MASK << FissureEngine.OWNER_SHIFT;

    private FissureArrays() {}

    /** The offset of an array's first element. By reflection, because the result type of the method depends on the Java version. */
    static int baseOffset(Class<?> type) {
        try {
            Object offset =
                    jdk.internal.misc.Unsafe.class
                            .getMethod("arrayBaseOffset", Class.class)
                            .invoke(FissureEngine.U, type);
            return ((Number) offset).intValue();
        } catch (ReflectiveOperationException error) {
            throw new InternalError(error);
        }
    }

    static void access(Object array, int index, int site, boolean write) {
        if (FissureEngine.MONITOR) {
            FissureMonitor.around(array, index, site);
            return;
        }
        Thread current = Thread.currentThread();
        FissureThread thread = current.fissureState;
        if (thread == null) {
            return;
        }
        Shadow shadow = thread.recent(array);
        if (shadow == null || !isSettled(current, thread, shadow, index, write)) {
            slowAccess(thread, array, index, site, write);
        }
    }

    /** Whether an access leaves the word unchanged, as far as that can be decided without a lookup. */
    private static boolean isSettled(
            Thread current, FissureThread thread, Shadow shadow, int index, boolean write) {
        if (index < 0 || index >= shadow.length || shadow.abandoned) {
            return true;
        }
        long mine = write ? current.fissureWrite : current.fissureRead;
        long[] words = shadow.words;
        if (words != null) {
            long word = words[index];
            long mask = write ? FissureHook.WRITE_MASK : FissureHook.READ_MASK;
            return ((word ^ mine) & mask) == 0L || thread.settles(null, word, write);
        }
        if (!isSame(thread, shadow.common, mine, FissureHook.READ_MASK) || !thread.isClean()) {
            return false;
        }
        long[] bits = write ? shadow.written : shadow.read;
        return (bits[index >>> 6] & 1L << index) != 0L;
    }

    /** Whether the word of all elements is that of this thread, in its current segment or in an earlier one that still counts. */
    private static boolean isSame(FissureThread thread, long common, long mine, long mask) {
        long difference = (common ^ mine) & mask;
        return difference == 0L
                || (difference & ~OWNER) == 0L
                        && thread.stampsItself((int) (common >>> FissureEngine.OWNER_SHIFT) & FissureEngine.OWNER_MASK);
    }

    private static void slowAccess(FissureThread thread, Object array, int index, int site, boolean write) {
        if (thread.isQuiet()) {
            return;
        }
        thread.busy = true;
        try {
            Shadow shadow = thread.shadow(array);
            if (shadow.abandoned || index < 0 || index >= shadow.length) {
                return;
            }
            int set = thread.set(null, write);
            if (shadow.words == null && common(thread, shadow, index, set, site, write)) {
                return;
            }
            FissureEngine.access(thread, set, array, shadow.words, WORDS + ((long) index << 3), site, write);
        } catch (OutOfMemoryError error) {
            FissureEngine.outOfMemory();
        } finally {
            thread.busy = false;
        }
    }

    /** The shadow of an array, created if there is none. */
    static Shadow find(Object array) {
        FissureTable.Entry entry = TABLE.find(array);
        if (entry != null) {
            return (Shadow) entry;
        }
        int length = java.lang.reflect.Array.getLength(array);
        synchronized (TABLE.guard) {
            entry = TABLE.find(array);
            if (entry == null) {
                Shadow shadow = new Shadow(array, length);
                if (length > LONGEST) {
                    shadow.abandoned = true;
                    FissureEngine.arrayTooLarge();
                }
                TABLE.add(shadow);
                entry = shadow;
            }
            return (Shadow) entry;
        }
    }

    /** Handles an access to an array that only one thread has accessed so far; false if the access needs the element's own word. */
    private static boolean common(
            FissureThread thread, Shadow shadow, int index, int set, int site, boolean write) {
        long mine =
                FissureEngine.word(
                        FissureEngine.EXCLUSIVE, thread.segment, FissureEngine.REFINE ? set : 0, 0);
        if (!isSame(thread, shadow.common, mine, FissureHook.WRITE_MASK)) {
            synchronized (shadow) {
                if (shadow.common != 0L) {
                    expand(shadow);
                    return false;
                }
                thread.newLocation(site);
                thread.accesses();
                int size = (shadow.length + 63) >>> 6;
                shadow.read = new long[size];
                shadow.written = new long[size];
                shadow.common = mine;
            }
        }
        long[] bits = write ? shadow.written : shadow.read;
        long bit = 1L << index;
        if ((bits[index >>> 6] & bit) == 0L) {
            bits[index >>> 6] |= bit;
            if (write && shadow.writeSite == 0) {
                shadow.writeSite = site;
            } else if (!write && shadow.readSite == 0) {
                shadow.readSite = site;
            }
            thread.sample(site);
            // Another thread may have expanded the words meanwhile, without this bit.
            return shadow.words == null;
        }
        return true;
    }

    private static void expand(Shadow shadow) {
        if (shadow.words != null) {
            return;
        }
        long[] words;
        try {
            words = new long[shadow.length];
        } catch (OutOfMemoryError error) {
            // Another attempt at every access would run the garbage collector each time.
            shadow.abandoned = true;
            throw error;
        }
        long read = shadow.common | shadow.readSite;
        long written = shadow.common | 1L << FissureEngine.STATE_SHIFT | shadow.writeSite;
        for (int i = 0; i < words.length; i++) {
            long bit = 1L << i;
            if ((shadow.written[i >>> 6] & bit) != 0L) {
                words[i] = written;
            } else if ((shadow.read[i >>> 6] & bit) != 0L) {
                words[i] = read;
            }
        }
        shadow.words = words;
    }
}
