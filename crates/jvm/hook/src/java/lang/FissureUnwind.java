package java.lang;

/**
 * Unwinds a thread that is left over when an iteration is over: native code throws it at every scheduling point that the thread reaches.
 * It has no stack trace, and hooks pass it on.
 */
final class FissureUnwind extends Error {
    private static final long serialVersionUID = 1L;

    FissureUnwind(String message) {
        super(message, null, false, false);
    }
}
