package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Keeps the identity hashes that the JDK's own locks get apart from those of the program's objects: which of the JDK's objects have a hash
 * already differs from run to run, and the JVM gives hashes one after the other.
 */
final class FissureHashes {
    /** The flag of a site in the JDK whose lock is internal. */
    private static final int QUIET = 1;
    private static final Unsafe MEMORY = Unsafe.getUnsafe();
    /** The address of the JVM's counter of identity hashes; 0 if it is not known. */
    private static final long COUNTER = FissureConductor.hashPlace();
    /** The address of the flags of sites. */
    private static final long FLAGS = FissureConductor.flagsPlace();
    /** The last hash of an internal lock. */
    private static int last = 1 << 22;

    private FissureHashes() {}

    /** Whether the lock at a site is internal to the JDK. */
    static boolean isQuiet(int site) {
        return COUNTER != 0L && (MEMORY.getInt(FLAGS + 4L * site) & QUIET) != 0;
    }

    /** Gives an internal lock its hash. Usually only one thread runs; if two are here, two objects may get the same hash. */
    static void number(Object lock) {
        int current = MEMORY.getInt(COUNTER);
        MEMORY.putInt(COUNTER, last);
        System.identityHashCode(lock);
        last = MEMORY.getInt(COUNTER);
        MEMORY.putInt(COUNTER, current);
    }
}
