package java.lang;

import java.lang.reflect.Field;

/**
 * The hooks of detection runs. All methods are small, so that the JIT inlines them, can be called from the JVM's first instruction
 * on, and never throw.
 *
 * <p>A location's shadow word is compared with the word for which an access by this thread changes nothing; if they differ,
 * {@link FissureEngine} handles the access. Threads without state have zero words, and so have locations without accesses.
 * The analysis crate's {@code word} module describes the layout of words. {@link FissureSynchronization} has the hooks of locks and of
 * other synchronization.
 */
public final class FissureHook extends FissureSynchronization {
    /** All bits but the site: they are equal if a write by the owner changes nothing. */
    static final long WRITE_MASK = ~0xFFFFFL;
    /** The same for reads, for which it does not matter whether the owner has written. */
    static final long READ_MASK = WRITE_MASK & ~(1L << 60);

    /** Whether the threads that run methods in scope are still counted. */
    static boolean countsThreads = true;

    private FissureHook() {}

    /** Enables the hooks; called once the JVM is initialized. */
    static void begin(Thread main) throws ReflectiveOperationException {
        FissureEngine.begin(main);
        on = true;
    }

    /** A method in scope begins. */
    public static void methodRuns() {
        if (countsThreads) {
            FissureThread.methodRuns();
        }
    }

    public static void read(Object object, long word, int site) {
        Thread thread = Thread.currentThread();
        if (((word ^ thread.fissureRead) & READ_MASK) != 0L
                && !FissureHeld.isSettled(thread.fissureSettled, word, FissureHeld.READS)) {
            FissureEngine.field(thread, object, word, site, false);
        }
    }

    public static void write(Object object, long word, int site) {
        Thread thread = Thread.currentThread();
        if (((word ^ thread.fissureWrite) & WRITE_MASK) != 0L
                && !FissureHeld.isSettled(thread.fissureSettled, word, FissureHeld.WRITES)) {
            FissureEngine.field(thread, object, word, site, true);
        }
    }

    /**
     * The word of a field that a constructor writes before any other code can have a reference to the object: no other thread can
     * change the word at the same time.
     */
    public static long fresh(int site) {
        Thread thread = Thread.currentThread();
        long word = thread.fissureFresh;
        return word != 0L && thread.fissureState.begins(site) ? word | site : firstWord(thread, site);
    }

    private static long firstWord(Thread thread, int site) {
        try {
            return FissureEngine.fresh(thread, site);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return 0L;
        }
    }

    public static double freshDouble(int site) {
        return Double.longBitsToDouble(fresh(site));
    }

    /** The shadow of a long field is a double, because two fields of one name must differ in type. */
    public static void read(Object object, double word, int site) {
        read(object, Double.doubleToRawLongBits(word), site);
    }

    public static void write(Object object, double word, int site) {
        write(object, Double.doubleToRawLongBits(word), site);
    }

    public static void readAt(Object object, int site) {
        if (on && object != null) {
            FissureEngine.readAt(object, site);
        }
    }

    public static void writeAt(Object object, int site) {
        if (on && object != null) {
            FissureEngine.writeAt(object, site);
        }
    }

    public static void readStatic(int cell, int site) {
        if (on) {
            FissureEngine.readStatic(cell, site);
        }
    }

    public static void writeStatic(int cell, int site) {
        if (on) {
            FissureEngine.writeStatic(cell, site);
        }
    }

    public static void readStaticAt(int site) {
        if (on) {
            FissureEngine.staticAt(site, false);
        }
    }

    public static void writeStaticAt(int site) {
        if (on) {
            FissureEngine.staticAt(site, true);
        }
    }

    /** A class initializer happens before every other use of the class, so that its accesses are not checked. */
    public static void initializerBegin() {
        if (on) {
            FissureThread.initializer(1);
        }
    }

    public static void initializerEnd() {
        if (on) {
            FissureThread.initializer(-1);
        }
    }

    public static void arrayRead(Object array, int index, int site) {
        if (on && array != null) {
            FissureArrays.read(array, index, site);
        }
    }

    public static void arrayWrite(Object array, int index, int site) {
        if (on && array != null) {
            FissureArrays.write(array, index, site);
        }
    }

    /**
     * An element is read by a method that remembers the array it used last, and the words of that array's elements. Returns the words of
     * this array's elements, null if they are not known.
     */
    public static FissureElements arrayRead(
            Object array, int index, Object last, FissureElements known, int site) {
        if (known != null && array == last) {
            Thread thread = Thread.currentThread();
            if (known.isSettled(index, thread.fissureRead, READ_MASK, thread.fissureSettled, FissureHeld.READS)
                    || thread.fissureState.repeats(known, index, site, false)) {
                return known;
            }
        }
        return on && array != null ? elements(array, index, site, false) : null;
    }

    /** The same for a write. */
    public static FissureElements arrayWrite(
            Object array, int index, Object last, FissureElements known, int site) {
        if (known != null && array == last) {
            Thread thread = Thread.currentThread();
            if (known.isSettled(
                            index, thread.fissureWrite, WRITE_MASK, thread.fissureSettled, FissureHeld.WRITES)
                    || thread.fissureState.repeats(known, index, site, true)) {
                return known;
            }
        }
        return on && array != null ? elements(array, index, site, true) : null;
    }

    private static FissureElements elements(Object array, int index, int site, boolean write) {
        try {
            return write
                    ? FissureArrays.write(array, index, site)
                    : FissureArrays.read(array, index, site);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return null;
        }
    }

    public static void cloned(Object copy) {
        if (on && copy != null) {
            FissureClones.forget(copy);
        }
    }

    public static void handleReadStatic(Object handle, int site) {
        if (on && handle != null) {
            FissureHandles.staticField(handle, site, false);
        }
    }

    public static void handleWriteStatic(Object handle, int site) {
        if (on && handle != null) {
            FissureHandles.staticField(handle, site, true);
        }
    }

    public static void handleRead(Object handle, Object object, int site) {
        if (on && handle != null) {
            FissureHandles.field(handle, object, site, false);
        }
    }

    public static void handleWrite(Object handle, Object object, int site) {
        if (on && handle != null) {
            FissureHandles.field(handle, object, site, true);
        }
    }

    public static void handleReadElement(Object handle, Object array, int index, int site) {
        if (on && handle != null) {
            FissureHandles.element(handle, array, index, site, false);
        }
    }

    public static void handleWriteElement(Object handle, Object array, int index, int site) {
        if (on && handle != null) {
            FissureHandles.element(handle, array, index, site, true);
        }
    }

    public static void unsafeRead(Object object, long offset, int bytes, int site) {
        if (on) {
            FissureHandles.memory(object, offset, bytes, site, false);
        }
    }

    public static void unsafeWrite(Object object, long offset, int bytes, int site) {
        if (on) {
            FissureHandles.memory(object, offset, bytes, site, true);
        }
    }

    public static void reflectedRead(Object field, Object object, int site) {
        if (on && field != null) {
            FissureHandles.reflected((Field) field, object, site, false);
        }
    }

    public static void reflectedWrite(Object field, Object object, int site) {
        if (on && field != null) {
            FissureHandles.reflected((Field) field, object, site, true);
        }
    }

    public static void elementRead(Object array, int index, int site) {
        if (on && array != null) {
            FissureHandles.element(array, index, site, false);
        }
    }

    public static void elementWrite(Object array, int index, int site) {
        if (on && array != null) {
            FissureHandles.element(array, index, site, true);
        }
    }

    public static void before(Object object, int site) {
        if (on) {
            FissureMonitor.at(object, -1, site, false);
        }
    }

    public static void after(Object object, int site) {
        if (on) {
            FissureMonitor.at(object, -1, site, true);
        }
    }

    public static void beforeElement(Object array, int index, int site) {
        if (on && array != null) {
            FissureMonitor.at(array, index, site, false);
        }
    }

    public static void afterElement(Object array, int index, int site) {
        if (on && array != null) {
            FissureMonitor.at(array, index, site, true);
        }
    }

    public static void afterTry(boolean got, Object lock, int site) {
        if (on && got) {
            FissureMonitor.at(lock, -1, site, true);
        }
    }

    public static void argument(Object value) {
        if (on) {
            FissureMonitor.argument(value);
        }
    }

    public static void threadStart(Object child) {
        if (on) {
            FissureThread.start((Thread) child);
        }
    }

    public static void threadJoined(Object child) {
        if (on) {
            FissureThread.joined((Thread) child);
        }
    }

    /** An exception leaves a thread's outermost method. */
    public static void uncaught(Object thrown) {
        if (on && thrown != null) {
            FissureThread.failed((Throwable) thrown, false);
        }
    }

    /** A test framework has caught an exception of a test. */
    public static void testFailed(Object thrown) {
        if (on && thrown != null && !FissureThrown.isAssumption(thrown)) {
            FissureThread.failed((Throwable) thrown, true);
        }
    }

    /** Hides the fields that the agent added. */
    public static Field[] visibleFields(Field[] fields) {
        try {
            return FissureHandles.withoutOwn(fields);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return fields;
        }
    }
}
