package fissure.object;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/** Threads that stay: each carries out its part of a job and then waits for the next one. */
final class Actors {
    /** Something that several threads do together. */
    interface Job {
        /** The part of one of them. */
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

    /** Hands a job to the first threads; it runs in the background. */
    void start(Job job, int number) {
        for (int actor = 0; actor < number; actor++) {
            actors[actor].failure = null;
            actors[actor].job = job;
            LockSupport.unpark(actors[actor]);
        }
    }

    /** The first threads themselves. */
    Thread[] threads(int number) {
        return Arrays.copyOf((Thread[]) actors, number);
    }

    /** Disturbs these threads at random moments from now on, or no more. */
    void nudge(int[] which, boolean on) {
        for (int actor : which) {
            if (nudges[actor].on != on) {
                nudges[actor].on = on;
                LockSupport.unpark(nudges[actor]);
            }
        }
    }

    /** Whether the first threads have done their parts. */
    boolean ended(int number) {
        for (int actor = 0; actor < number; actor++) {
            if (actors[actor].job != null) {
                return false;
            }
        }
        return true;
    }

    /** What one of the first threads failed with. */
    Throwable failure(int number) {
        for (int actor = 0; actor < number; actor++) {
            if (actors[actor].failure != null) {
                return actors[actor].failure;
            }
        }
        return null;
    }

    /**
     * Shares its processor with an actor and wakes up now and then, so that the actor stops for some microseconds wherever
     * it is. An operation of a few steps is hardly ever met between two of them otherwise.
     */
    private static final class Nudge extends Thread {
        /** It sleeps for this many nanoseconds, and up to as many more. */
        private static final int SLEEP = 20_000;
        /** It stays for this many turns of waiting, and up to as many more. */
        private static final int STAY = 64;

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
                for (long left = STAY + (random >>> 40) % STAY; left > 0; left--) {
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
                // Nobody may be surprised by an interrupt that was meant for the last job.
                Thread.interrupted();
                job = null;
            }
        }
    }
}
