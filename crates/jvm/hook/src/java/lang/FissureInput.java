package java.lang;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import sun.nio.ch.Net;
import sun.nio.ch.SelChImpl;

/**
 * The system calls in which threads wait for input, for room in a buffer or for the end of a process, as the conductor sees them: a
 * controlled thread waits in the model until its file descriptor is ready, and other threads run meanwhile. Threads that are not
 * controlled wait in the kernel.
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
            FissureConductor.awaitInput(thread, listening, site);
        }
        return Net.accept(listening, accepted, peer);
    }

    /** A socket, a pipe or a file is about to be read. */
    public static void reads(Object descriptor) {
        long thread = thread();
        if (thread > 0L && descriptor != null) {
            FissureConductor.awaitInput(thread, (FileDescriptor) descriptor, 0);
        }
    }

    /** A channel is about to receive a datagram. */
    public static void readsChannel(Object channel) {
        reads(((SelChImpl) channel).getFD());
    }

    /** Replaces the native methods by which channels write a buffer. */
    public static int write(FileDescriptor descriptor, long address, int length, int site) throws IOException {
        return (int) written(FissureConductor.write(thread(), descriptor, address, length, false, site));
    }

    /** Replaces the native methods by which channels write several buffers. */
    public static long writeVectors(FileDescriptor descriptor, long address, int count, int site) throws IOException {
        return written(FissureConductor.write(thread(), descriptor, address, count, true, site));
    }

    /** The result of a write as the JDK wants it. */
    private static long written(long result) throws IOException {
        if (result > FissureConductor.ERRORS) {
            return result;
        }
        throw new IOException(FissureConductor.errorText((int) (FissureConductor.ERRORS - result)));
    }

    /** Replaces the native method in which a thread of the JDK waits for the end of a process. */
    public static int awaitProcess(long process, boolean reaps, int site) {
        return FissureConductor.awaitProcess(thread(), process, reaps, site);
    }

    /** A stream of a file, which may be a pipe or a terminal, is about to be read. */
    public static void readsStream(Object stream) {
        long thread = thread();
        if (thread > 0L) {
            FissureConductor.awaitInput(thread, descriptor((FileInputStream) stream), 0);
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
