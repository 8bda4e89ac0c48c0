package fissure.object;

import java.util.stream.IntStream;

/**
 * Executes a harness many times: one thread per sequence, a few objects at a time.
 *
 * <p>In each round every thread runs its sequence on the same few objects, one after the other. Then the threads divide the work of
 * counting the outcomes of the previous round and replacing its objects, and meet at a barrier. One barrier for several objects
 * makes millions of executions per second possible; the objects are few, so that the threads stay close together. In some
 * rounds threads pause for a short random time first, so that the sequences overlap at different points.
 *
 * <p>A sequence that comes before all others or after all others has no thread: the thread that counts an outcome executes the last
 * sequence first, and the first sequence on the new object.
 */
final class Stress implements Actors.Job {
    private static final int STRIDE = 8;

    private final Operations operations;
    private final int[][] sequences;
    private final int[][] before;
    /** The sequences that have threads, and the numbers of those that come before and after all others, or -1. */
    private final int[] concurrent;
    private final int initial;
    private final int last;
    private final boolean[] awaited;
    private final long half;
    private final long deadline;
    private final boolean patient;
    private final Object[][] targets = new Object[2][STRIDE];
    private final Object[][][] results;
    private final Counts[] counts;
    private final Dictionary.View[] views;
    private final Gates rounds;
    private final Gates steps;
    private long stopAfter = Long.MAX_VALUE;
    /** The round and the time at half of the time limit, and the time of the end. */
    private long halfRound;
    private long halfAt;
    private long endAt;
    private volatile boolean violated;
    long sink;

    /**
     * @param before for each sequence, the sequences that end before it begins
     * @param patient whether to continue after the first outcome that is not atomic
     */
    Stress(Operations operations, Dictionary dictionary, int[][] sequences, int[][] before, int[][] atomic,
            long nanoseconds, boolean patient) throws Throwable {
        this.operations = operations;
        this.sequences = sequences;
        this.before = before;
        this.patient = patient;
        int number = sequences.length;
        initial = initial(before);
        last = last(before, initial);
        concurrent = IntStream.range(0, number).filter(one -> one != initial && one != last).toArray();
        awaited = new boolean[number];
        results = new Object[2][number][];
        counts = new Counts[number];
        views = new Dictionary.View[number];
        int width = 0;
        for (int[] sequence : sequences) {
            width += sequence.length;
        }
        for (int actor = 0; actor < number; actor++) {
            counts[actor] = new Counts(width, atomic);
            views[actor] = new Dictionary.View(dictionary);
            for (int earlier : before[actor]) {
                awaited[earlier] |= actor != last;
            }
            for (int buffer = 0; buffer < 2; buffer++) {
                results[buffer][actor] = new Object[STRIDE * sequences[actor].length];
            }
        }
        for (int slot = 0; slot < STRIDE; slot++) {
            renew(0, slot);
            renew(1, slot);
        }
        rounds = new Gates(number);
        steps = new Gates(number);
        halfAt = System.nanoTime();
        half = halfAt + nanoseconds / 2;
        deadline = halfAt + nanoseconds;
    }

    int actors() {
        return concurrent.length;
    }

    /** The threads of these sequences. */
    int[] actors(int[] which) {
        return IntStream.range(0, concurrent.length).filter(actor -> contains(which, concurrent[actor])).toArray();
    }

    /** The sequence that ends before all others begin, or -1. */
    private static int initial(int[][] before) {
        for (int one = 0; one < before.length && before.length > 1; one++) {
            int number = one;
            if (IntStream.range(0, before.length).allMatch(other -> other == number || contains(before[other], number))) {
                return one;
            }
        }
        return -1;
    }

    /** The sequence that begins after all others have ended, or -1. */
    private static int last(int[][] before, int initial) {
        for (int one = 0; one < before.length; one++) {
            int number = one;
            boolean isLast = IntStream.range(0, before.length)
                    .allMatch(other -> other == number || contains(before[number], other));
            if (isLast && one != initial && before.length > (initial < 0 ? 1 : 2)) {
                return one;
            }
        }
        return -1;
    }

    private static boolean contains(int[] numbers, int number) {
        return IntStream.of(numbers).anyMatch(one -> one == number);
    }

    /** How many rounds the first thread has completed. */
    long progress() {
        return rounds.reached(0);
    }

    /** Ends the waits of threads for others. */
    void close() {
        rounds.closed = true;
        steps.closed = true;
    }

    /** The number of executions in the second half of the time, and its length in nanoseconds; valid once all threads have ended. */
    long[] later() {
        return new long[] {Math.max(0, stopAfter - halfRound) * STRIDE, Math.max(0, endAt - halfAt)};
    }

    /** The outcomes of all threads; valid once all threads have ended. */
    Counts counted() {
        for (int actor = 1; actor < concurrent.length; actor++) {
            counts[0].merge(counts[actor]);
        }
        return counts[0];
    }

    @Override
    public void run(int actor) throws Throwable {
        try {
            rounds(actor);
        } catch (Throwable throwable) {
            close();
            if (!(throwable instanceof Gates.Closed)) {
                throw throwable;
            }
        }
    }

    private void rounds(int actor) throws Throwable {
        long random = 0x9E3779B97F4A7C15L * (actor + 1);
        int[] row = new int[counts[actor].row(0).length];
        for (long round = 0;; round++) {
            int buffer = (int) round & 1;
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            pause(random);
            execute(actor, buffer, round);
            if (round > 0) {
                evaluate(actor, 1 - buffer, row);
            }
            if (actor == 0) {
                long now = System.nanoTime();
                if (halfRound == 0 && now > half) {
                    halfRound = round;
                    halfAt = now;
                }
                if (now > deadline || violated && !patient) {
                    endAt = now;
                    stopAfter = round;
                }
            }
            rounds.reach(actor, round + 1);
            for (int other = 0; other < concurrent.length; other++) {
                rounds.await(other, round + 1);
            }
            if (stopAfter <= round) {
                return;
            }
        }
    }

    private void pause(long random) {
        if ((random & 1) == 0) {
            return;
        }
        long value = sink;
        for (int left = (int) (random >>> 32) & 127; left > 0; left--) {
            value = value * 31 + left;
        }
        sink = value;
    }

    private void execute(int actor, int buffer, long round) {
        int number = concurrent[actor];
        Object[] objects = targets[buffer];
        Object[] out = results[buffer][number];
        int[] sequence = sequences[number];
        int[] earlier = before[number];
        boolean isAwaited = awaited[number];
        int at = 0;
        for (int slot = 0; slot < STRIDE; slot++) {
            long step = round * STRIDE + slot + 1;
            for (int other : earlier) {
                if (other != initial) {
                    steps.await(other, step);
                }
            }
            Object target = objects[slot];
            for (int operation : sequence) {
                out[at++] = operations.invoke(operation, target);
            }
            if (isAwaited) {
                steps.reach(number, step);
            }
        }
    }

    /** Counts this thread's share of the outcomes and replaces their objects. */
    private void evaluate(int actor, int buffer, int[] row) throws Throwable {
        Counts mine = counts[actor];
        Dictionary.View view = views[actor];
        for (int slot = actor; slot < STRIDE; slot += concurrent.length) {
            if (last >= 0) {
                apart(last, buffer, slot);
            }
            int at = 0;
            for (int other = 0; other < sequences.length; other++) {
                int length = sequences[other].length;
                Object[] out = results[buffer][other];
                for (int step = slot * length; step < (slot + 1) * length; step++) {
                    row[at++] = view.number(out[step]);
                }
            }
            mine.add(row);
            renew(buffer, slot);
        }
        if (mine.violated && !violated) {
            violated = true;
        }
    }

    /** Creates a new object and brings it into the state in which the threads find it. */
    private void renew(int buffer, int slot) throws Throwable {
        targets[buffer][slot] = operations.create();
        if (initial >= 0) {
            apart(initial, buffer, slot);
        }
    }

    /** Executes a sequence that no thread has. */
    private void apart(int number, int buffer, int slot) {
        int[] sequence = sequences[number];
        for (int call = 0; call < sequence.length; call++) {
            results[buffer][number][slot * sequence.length + call] =
                    operations.invoke(sequence[call], targets[buffer][slot]);
        }
    }
}
