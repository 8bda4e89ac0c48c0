package fissure.object;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/** Long-lived threads: each executes its part of a job and then waits for the next one. */
final class Actors {
    /** A job that several threads execute together. */
    interface Job {
        /** Executes the part of one thread. */
        void run(int actor) throws Throwable;
    }

    private final Actor[] actors;
    private final Nudge[] nudges;

    Actors(int number) {
        actors = new Actor[number];
        nudges = new Nudge[number];
        for (int actor = 0; actor < number; actor++) {
            nudges[actor] = new Nudge(actor);
            nudges[actor].start();
        }
        for (int actor = 0; actor < number; actor++) {
            actors[actor] = new Actor(actor);
            actors[actor].start();
        }
    }

    /** Starts a job on the first {@code number} threads; it runs in the background. */
    void start(Job job, int number) {
        for (int actor = 0; actor < number; actor++) {
            actors[actor].failure = null;
            actors[actor].job = job;
            LockSupport.unpark(actors[actor]);
        }
    }

    /** The first {@code number} threads. */
    Thread[] threads(int number) {
        return Arrays.copyOf((Thread[]) actors, number);
    }

    /** Starts or stops preempting these threads at random moments. */
    void nudge(int[] which, boolean on) {
        for (int actor : which) {
            if (nudges[actor].on != on) {
                nudges[actor].on = on;
                LockSupport.unpark(nudges[actor]);
            }
        }
    }

    /** Whether the first {@code number} threads have finished their parts. */
    boolean ended(int number) {
        for (int actor = 0; actor < number; actor++) {
            if (actors[actor].job != null) {
                return false;
            }
        }
        return true;
    }

    /** The exception of one of the first {@code number} threads; null if none failed. */
    Throwable failure(int number) {
        for (int actor = 0; actor < number; actor++) {
            if (actors[actor].failure != null) {
                return actors[actor].failure;
            }
        }
        return null;
    }

    /**
     * Competes with an actor for a processor and wakes up now and then, so that the operating system preempts the actor for some
     * microseconds wherever it is. Without that an operation of a few steps is hardly ever preempted between two of them.
     */
    private static final class Nudge extends Thread {
        /** It sleeps for this many nanoseconds, plus a random time of up to as many. */
        private static final int SLEEP = 20_000;
        /** It spins for this many iterations, plus a random number of up to as many. */
        private static final int SPIN = 64;

        volatile boolean on;

        Nudge(int number) {
            super("fissure-nudge" + number);
            setDaemon(true);
        }

        @Override
        public void run() {
            long random = getName().hashCode() | 1;
            while (true) {
                if (!on) {
                    LockSupport.park(this);
                    continue;
                }
                random ^= random << 13;
                random ^= random >>> 7;
                random ^= random << 17;
                LockSupport.parkNanos(SLEEP + (random >>> 40) % SLEEP);
                for (long left = SPIN + (random >>> 40) % SPIN; left > 0; left--) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    private static final class Actor extends Thread {
        private final int number;
        volatile Job job;
        volatile Throwable failure;

        Actor(int number) {
            super("fissure-actor" + number);
            this.number = number;
            setDaemon(true);
        }

        @Override
        public void run() {
            while (true) {
                Job mine = job;
                if (mine == null) {
                    LockSupport.park(this);
                    continue;
                }
                try {
                    mine.run(number);
                } catch (Throwable throwable) {
                    failure = throwable;
                }
                // An interrupt that was meant for this job must not affect the next one.
                Thread.interrupted();
                job = null;
            }
        }
    }
}
