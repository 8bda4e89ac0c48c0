package fissure.object;

import java.util.concurrent.locks.LockSupport;

/** Threads that stay: each carries out its part of a job and then waits for the next one. */
final class Actors {
    /** Something that several threads do together. */
    interface Job {
        /** The part of one of them. */
        void run(int actor) throws Throwable;
    }

    private final Actor[] actors;

    Actors(int number) {
        actors = new Actor[number];
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
