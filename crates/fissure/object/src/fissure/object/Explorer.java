package fissure.object;

/**
 * Executes a harness once for every schedule with few preemptions. Fissure's agent, which implements the native methods, schedules the
 * threads: exactly one runs at a time. The thread that ends last evaluates the outcome and creates the next object.
 */
final class Explorer implements Actors.Job {
    private static final int RUN = 1;
    private static final int LAST = 2;
    private static final int LAST_OF_CUT = 3;

    private final Operations operations;
    private final int[][] sequences;
    private final int[] first;
    private final long deadline;
    private final long most;
    private final boolean patient;
    private final boolean hasWhole;
    private final Object[] results;
    private final int[] row;
    private final Counts counts;
    private final Dictionary.View view;
    private Object target;
    private volatile long executions;
    private volatile Throwable failure;
    /** The interleaving of the first execution whose outcome was not atomic. */
    String interleaving = "";

    /**
     * @param most the maximum number of executions
     * @param patient whether to continue after the first outcome that is not atomic
     * @param whole the calls during which no other thread may run
     */
    Explorer(Operations operations, Dictionary dictionary, int[][] sequences, int[][] atomic, long nanoseconds,
            long most, boolean patient, int[] whole) throws Throwable {
        this.operations = operations;
        this.sequences = sequences;
        this.patient = patient;
        this.most = most;
        hasWhole = whole.length > 0;
        first = new int[sequences.length];
        int width = 0;
        for (int actor = 0; actor < sequences.length; actor++) {
            first[actor] = width;
            width += sequences[actor].length;
        }
        results = new Object[width];
        row = new int[width];
        counts = new Counts(width, atomic);
        view = new Dictionary.View(dictionary);
        target = operations.create();
        deadline = System.nanoTime() + nanoseconds;
    }

    /** Opens an exploration with these threads; of each pair of numbers, the first thread ends before the second one begins. No other thread runs during the calls of {@code whole}, unless they wait for it. */
    static native boolean open(Object[] threads, int[] pairs, int preemptions, int[] whole);

    /** Whether no other thread ran during any of the calls that are to be whole. */
    private static native boolean wasWhole();

    private static native int begin(int actor);

    private static native int end(int actor);

    private static native int next(int actor, boolean stop);

    private static native void call(int actor, int call);

    /** Fills in the statistics of the exploration; the agent defines their order. */
    static native void explored(long[] numbers);

    private static native String interleaving();

    static native void close();

    long progress() {
        return executions;
    }

    /** Whether no controlled thread could continue. */
    boolean isStuck() {
        long[] numbers = new long[7];
        explored(numbers);
        return numbers[6] != 0;
    }

    Throwable failure() {
        return failure;
    }

    Counts counted() {
        return counts;
    }

    @Override
    public void run(int actor) {
        int[] sequence = sequences[actor];
        int state = begin(actor);
        while (state == RUN) {
            for (int call = 0; call < sequence.length; call++) {
                call(actor, first[actor] + call);
                results[first[actor] + call] = operations.invoke(sequence[call], target);
            }
            state = end(actor);
            if (state == LAST || state == LAST_OF_CUT) {
                state = next(actor, evaluate(state == LAST_OF_CUT));
            }
        }
    }

    /** Evaluates the outcome and creates a new object; returns whether to stop. */
    private boolean evaluate(boolean cut) {
        executions++;
        try {
            // The results of a cut execution do not belong to its schedule.
            if (!cut && (!hasWhole || wasWhole())) {
                for (int at = 0; at < row.length; at++) {
                    row[at] = view.number(results[at]);
                }
                boolean violated = counts.violated;
                counts.add(row);
                if (counts.violated && !violated) {
                    interleaving = interleaving();
                }
            }
            target = operations.create();
        } catch (Throwable throwable) {
            failure = throwable;
        }
        return failure != null || counts.violated && !patient || executions >= most || System.nanoTime() > deadline;
    }
}
