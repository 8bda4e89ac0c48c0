package java.lang;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import sun.nio.ch.Net;

/**
 * The system calls in which threads wait for input, as the conductor sees them: a controlled thread waits in the model until its file
 * descriptor is ready, and other threads run meanwhile. Threads that are not controlled wait in the kernel.
 */
public abstract class FissureInput extends FissureClock {
    FissureInput() {}

    /** Replaces {@code sun.nio.ch.Net.poll}. */
    public static int poll(FileDescriptor descriptor, int events, long millis, int site) {
        return FissureConductor.poll(thread(), descriptor, events, millis, site);
    }

    /** Replaces {@code sun.nio.ch.EPoll.wait}, in which selectors wait. */
    public static int epoll(int epoll, long address, int count, int millis, int site) {
        return FissureConductor.epoll(thread(), epoll, address, count, millis, site);
    }

    /** Replaces {@code sun.nio.ch.Net.accept}: waits for a connection first. */
    public static int accept(FileDescriptor listening, FileDescriptor accepted, InetSocketAddress[] peer, int site)
            throws IOException {
        long thread = thread();
        if (thread > 0L) {
            FissureConductor.awaitInput(thread, listening, false, site);
        }
        return Net.accept(listening, accepted, peer);
    }

    /** A socket or pipe is about to be read. */
    public static void reads(Object descriptor) {
        long thread = thread();
        if (thread > 0L && descriptor != null) {
            FissureConductor.awaitInput(thread, (FileDescriptor) descriptor, false, 0);
        }
    }

    /** A stream of a file, which may be a pipe or a terminal, is about to be read. */
    public static void readsStream(Object stream) {
        long thread = thread();
        if (thread > 0L) {
            FissureConductor.awaitInput(thread, descriptor((FileInputStream) stream), true, 0);
        }
    }

    private static long thread() {
        try {
            return on ? self() : -1L;
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return -1L;
        }
    }

    private static FileDescriptor descriptor(FileInputStream stream) {
        try {
            return stream.getFD();
        } catch (IOException closed) {
            return null;
        }
    }
}
