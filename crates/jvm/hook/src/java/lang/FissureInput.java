package java.lang;

import java.io.FileDescriptor;

/**
 * The system calls in which threads wait for input, as the conductor sees them: a controlled thread waits in the model until its file
 * descriptor is ready, and other threads run meanwhile. Threads that are not controlled wait in the kernel.
 */
final class FissureInput {
    static {
        initialize();
    }

    private FissureInput() {}

    /** Binds all other native methods; the one symbol that the JVM looks up by name. */
    private static native void initialize();

    /** Replaces {@code poll} for one descriptor; returns the events that have happened, 0 after the time. */
    static native int poll(long thread, FileDescriptor descriptor, int events, long millis, int site);

    /** Replaces {@code epoll_wait}; returns the number of events stored at the address. */
    static native int epoll(long thread, int epoll, long address, int count, int millis, int site);

    /** Waits until an operation of the thread would not block in the kernel. */
    static native void await(long thread, FileDescriptor descriptor, boolean ofStream, int site);
}
