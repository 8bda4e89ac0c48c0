package fissure.object;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/** The progress of each thread: a monotonic number on a separate cache line. Waiting threads first spin, then yield, then park. */
final class Gates {
    private static final VarHandle NUMBERS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int APART = 16;
    private static final int YIELDS = 64;
    private static final long PAUSE = 20_000;

    private final long[] numbers;
    private final int spins;
    volatile boolean closed;

    Gates(int threads) {
        numbers = new long[(threads + 1) * APART];
        // With fewer processors than threads, spinning only keeps the others from running.
        spins = Runtime.getRuntime().availableProcessors() >= threads ? 4096 : 64;
    }

    void reach(int thread, long number) {
        NUMBERS.setRelease(numbers, (thread + 1) * APART, number);
    }

    long reached(int thread) {
        return (long) NUMBERS.getAcquire(numbers, (thread + 1) * APART);
    }

    /** Waits until a thread has reached a number. */
    void await(int thread, long number) {
        int tries = 0;
        while (reached(thread) < number) {
            tries++;
            if (tries < spins) {
                Thread.onSpinWait();
            } else {
                if (closed) {
                    throw new Closed();
                }
                if (tries < spins + YIELDS) {
                    Thread.yield();
                } else {
                    LockSupport.parkNanos(PAUSE);
                }
            }
        }
    }

    /** Ends the wait because another thread has failed. */
    static final class Closed extends RuntimeException {
        private static final long serialVersionUID = 1;
    }
}
