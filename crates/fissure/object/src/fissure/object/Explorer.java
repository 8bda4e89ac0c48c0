package fissure.object;

/**
 * Executes a harness once for every schedule with few preemptions. Fissure's agent, which has the native methods, decides who runs;
 * exactly one thread does at a time, and the one that comes to its end last looks at the outcome and makes the next object.
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
     * @param most how many executions there are to be at most
     * @param patient whether to go on after the first outcome that is not atomic
     */
    Explorer(Operations operations, Dictionary dictionary, int[][] sequences, int[][] atomic, long nanoseconds,
            long most, boolean patient) throws Throwable {
        this.operations = operations;
        this.sequences = sequences;
        this.patient = patient;
        this.most = most;
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

    /** These threads take part; of each pair of numbers the first one ends before the second one begins. */
    static native boolean open(Object[] threads, int[] pairs, int preemptions);

    private static native int begin(int actor);

    private static native int end(int actor);

    private static native int next(int actor, boolean stop);

    private static native void call(int actor, int call);

    /** Fills in how far it is, see the agent. */
    static native void explored(long[] numbers);

    private static native String interleaving();

    static native void close();

    long progress() {
        return executions;
    }

    /** Whether nobody could go on under control. */
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

    /** Looks at what came out and makes a new object; whether that was enough. */
    private boolean evaluate(boolean cut) {
        executions++;
        try {
            // What came of an execution that was cut says nothing about its schedule.
            if (!cut) {
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
