package fissure.object;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** Executes sequences of operations on fresh objects, each several times, in a thread that can be abandoned. */
final class Runner {
    /** How a run ended. */
    static final int FINE = 0;
    static final int VARIES = 1;
    static final int STUCK = 2;
    static final int NO_OBJECT = 3;
    /** An operation waits for another thread, and there is none; the results are those before it. */
    static final int WAITS = 4;

    /** A thread that is waiting without a limit for so many milliseconds waits for ever. */
    private static final long WAITING = 60;

    /** Up to so many repetitions, runs that are known to wait are not executed again. */
    private static final int FEW = 2;

    private final Operations operations;
    private final Dictionary dictionary;
    private final int repetitions;
    private final int[][] runs;
    final int[][] results;
    final int[] ends;
    String problem = "";
    private final Map<List<Integer>, int[]> waits;
    private volatile int next;
    private volatile int step;
    /** The results of the current run so far. */
    private volatile int[] partial;
    private volatile boolean ended;
    /** The run that is given up, or -1. */
    private volatile int abandoned;

    /** Runs that begin with one of {@code waits} are not executed, unless they are to be repeated often. */
    Runner(Operations operations, Dictionary dictionary, int[][] runs, int repetitions, Map<List<Integer>, int[]> waits) {
        this.waits = waits;
        this.operations = operations;
        this.dictionary = dictionary;
        this.runs = runs;
        this.repetitions = repetitions;
        results = new int[runs.length][];
        ends = new int[runs.length];
    }

    /** Executes all runs; a run that takes longer than {@code patience} milliseconds is stuck. Returns whether the JVM is still usable. */
    boolean run(long patience) throws InterruptedException {
        boolean fit = true;
        while (next < runs.length) {
            ended = false;
            abandoned = -1;
            Thread worker = new Thread(this::work, "fissure-runner");
            worker.setDaemon(true);
            worker.start();
            int seen = -1;
            int seenStep = -1;
            long since = 0;
            boolean isWaiting = false;
            while (!ended && !isWaiting) {
                worker.join(1);
                long now = System.nanoTime();
                if (next != seen || step != seenStep) {
                    seen = next;
                    seenStep = step;
                    since = now;
                } else if (now - since > TimeUnit.MILLISECONDS.toNanos(patience)) {
                    break;
                } else if (worker.getState() == Thread.State.WAITING) {
                    isWaiting = now - since > TimeUnit.MILLISECONDS.toNanos(repetitions > FEW ? patience / 2 : WAITING);
                }
            }
            if (!ended) {
                int stuck = next;
                int[] before = isWaiting ? partial : null;
                abandoned = stuck;
                worker.interrupt();
                LockSupport.parkNanos(1);
                worker.join(200);
                fit &= !worker.isAlive();
                ends[stuck] = isWaiting ? WAITS : STUCK;
                if (isWaiting) {
                    results[stuck] = Arrays.copyOf(before, seenStep);
                    waits.put(prefix(runs[stuck], seenStep + 1), results[stuck]);
                }
                next = stuck + 1;
                if (!fit) {
                    for (int rest = next; rest < runs.length; rest++) {
                        ends[rest] = STUCK;
                    }
                    return false;
                }
            }
        }
        return fit;
    }

    private void work() {
        Dictionary.View view = new Dictionary.View(dictionary);
        for (int at = next; at < runs.length && !Thread.currentThread().isInterrupted(); at++) {
            int end = FINE;
            int[] first = waiting(runs[at]);
            if (first != null) {
                results[at] = first;
                ends[at] = WAITS;
                next = at + 1;
                continue;
            }
            try {
                for (int repetition = 0; repetition < repetitions && end == FINE; repetition++) {
                    int[] numbers = once(at, view);
                    if (first == null) {
                        first = numbers;
                    } else if (!Arrays.equals(first, numbers)) {
                        end = VARIES;
                    }
                }
            } catch (Throwable throwable) {
                end = NO_OBJECT;
                problem = throwable.toString();
            }
            if (Thread.currentThread().isInterrupted() || abandoned == at) {
                return;
            }
            results[at] = first;
            ends[at] = end;
            next = at + 1;
        }
        ended = true;
    }

    private int[] once(int at, Dictionary.View view) throws Throwable {
        int[] run = runs[at];
        step = 0;
        Object target = operations.create();
        int[] numbers = new int[run.length];
        partial = numbers;
        for (int call = 0; call < run.length && abandoned != at; call++) {
            step = call;
            numbers[call] = view.number(operations.invoke(run[call], target));
        }
        return numbers;
    }

    /** The results before an operation of a run that is known to wait; null if none is. */
    private int[] waiting(int[] run) {
        for (int length = 1; !waits.isEmpty() && repetitions <= FEW && length <= run.length; length++) {
            int[] known = waits.get(prefix(run, length));
            if (known != null) {
                return known;
            }
        }
        return null;
    }

    private static List<Integer> prefix(int[] run, int length) {
        return Arrays.stream(run, 0, length).boxed().collect(Collectors.toList());
    }
}
