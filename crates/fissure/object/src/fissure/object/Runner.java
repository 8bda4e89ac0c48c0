package fissure.object;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Executes sequences of operations on fresh objects, each several times, in a thread that can be abandoned. */
final class Runner {
    /** How a run ended. */
    static final int FINE = 0;
    static final int VARIES = 1;
    static final int STUCK = 2;
    static final int NO_OBJECT = 3;

    private final Operations operations;
    private final Dictionary dictionary;
    private final int repetitions;
    private final int[][] runs;
    final int[][] results;
    final int[] ends;
    String problem = "";
    private volatile int next;
    private volatile boolean ended;

    Runner(Operations operations, Dictionary dictionary, int[][] runs, int repetitions) {
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
            Thread worker = new Thread(this::work, "fissure-runner");
            worker.setDaemon(true);
            worker.start();
            int seen = -1;
            long since = 0;
            while (!ended) {
                worker.join(1);
                if (next != seen) {
                    seen = next;
                    since = System.nanoTime();
                } else if (System.nanoTime() - since > TimeUnit.MILLISECONDS.toNanos(patience)) {
                    ends[seen] = STUCK;
                    break;
                }
            }
            if (!ended) {
                worker.interrupt();
                LockSupport.parkNanos(1);
                worker.join(200);
                fit &= !worker.isAlive();
                int stuck = next;
                ends[stuck] = STUCK;
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
            int[] first = null;
            try {
                for (int repetition = 0; repetition < repetitions && end == FINE; repetition++) {
                    int[] numbers = once(runs[at], view);
                    if (first == null) {
                        first = numbers;
                    } else if (!java.util.Arrays.equals(first, numbers)) {
                        end = VARIES;
                    }
                }
            } catch (Throwable throwable) {
                end = NO_OBJECT;
                problem = throwable.toString();
            }
            if (Thread.currentThread().isInterrupted() || ends[at] == STUCK) {
                return;
            }
            results[at] = first;
            ends[at] = end;
            next = at + 1;
        }
        ended = true;
    }

    private int[] once(int[] run, Dictionary.View view) throws Throwable {
        Object target = operations.create();
        int[] numbers = new int[run.length];
        for (int step = 0; step < run.length; step++) {
            numbers[step] = view.number(operations.invoke(run[step], target));
        }
        return numbers;
    }
}
