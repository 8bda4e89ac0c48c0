package java.lang;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
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

    /**
     * Replaces {@code Thread.isVirtual} in the implementation of sockets and channels: whether the thread waits for input with the help
     * of the JDK's poller threads. A controlled virtual thread waits in the model instead, like a platform thread.
     */
    public static boolean waitsByPoller(Object thread) {
        return ((Thread) thread).isVirtual() && ((Thread) thread).fissureControl <= 0L;
    }

    /** How an interrupt affects a wait of the current thread for input: it ends the wait if the thread is virtual. */
    private static int interrupts(long thread) {
        Thread current = Thread.currentThread();
        if (thread <= 0L || !FissureNames.isBound(current.getClass().getName())) {
            return FissureConductor.UNINTERRUPTIBLE;
        }
        return current.isInterrupted() ? FissureConductor.IS_INTERRUPTED : FissureConductor.INTERRUPTIBLE;
    }

    /** Replaces {@code sun.nio.ch.Net.poll}. */
    public static int poll(FileDescriptor descriptor, int events, long millis, int site) throws IOException {
        long thread = thread();
        int interrupts = interrupts(thread);
        int ready = FissureConductor.poll(thread, descriptor, events, millis, interrupts, site);
        if (ready == 0 && millis != 0L && interrupts != FissureConductor.UNINTERRUPTIBLE && Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException();
        }
        return ready;
    }

    private static void await(long thread, FileDescriptor descriptor, int site) throws IOException {
        if (isInterruptedBefore(thread, descriptor, site)) {
            throw new InterruptedIOException();
        }
    }

    /** Waits for input, and returns whether an interrupt ended the wait before there was any. */
    private static boolean isInterruptedBefore(long thread, FileDescriptor descriptor, int site) {
        try {
            return FissureConductor.awaitInput(thread, descriptor, interrupts(thread), site);
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return false;
        }
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
            await(thread, listening, site);
        }
        return Net.accept(listening, accepted, peer);
    }

    /** A socket, a pipe or a file is about to be read. */
    public static void reads(Object descriptor) throws IOException {
        long thread = thread();
        if (thread > 0L && descriptor != null) {
            await(thread, (FileDescriptor) descriptor, 0);
        }
    }

    /** A channel is about to receive a datagram. */
    public static void readsChannel(Object channel) throws IOException {
        reads(descriptor(channel));
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
            FissureConductor.awaitInput(
                    thread, descriptor((FileInputStream) stream), FissureConductor.UNINTERRUPTIBLE, 0);
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

    private static FileDescriptor descriptor(Object channel) {
        try {
            return ((SelChImpl) channel).getFD();
        } catch (Throwable failure) {
            FissureFailure.caught(failure);
            return null;
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
