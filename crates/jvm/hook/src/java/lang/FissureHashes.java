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
    /** The address of the flags of sites; 0 if all objects get their hashes from the JVM. */
    private static final long FLAGS = FissureConductor.flagsPlace();

    private FissureHashes() {}

    /** Whether the lock at a site is internal to the JDK. */
    static boolean isQuiet(int site) {
        return FLAGS != 0L && (MEMORY.getInt(FLAGS + 4L * site) & QUIET) != 0;
    }
}
