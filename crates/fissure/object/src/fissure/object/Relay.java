package fissure.object;

/** Executes invocations one after the other, each in the thread of its sequence, because results may depend on the thread. */
final class Relay implements Actors.Job {
    private final Operations operations;
    private final Object target;
    private final int[] steps;
    private final int[] threads;
    private final Object[] results;
    private final Gates gates = new Gates(1);

    /** Takes the operation and the thread of each step. */
    Relay(Operations operations, int[] steps, int[] threads) throws Throwable {
        this.operations = operations;
        this.target = operations.create();
        this.steps = steps;
        this.threads = threads;
        this.results = new Object[steps.length];
    }

    Object[] results() {
        return results;
    }

    void close() {
        gates.closed = true;
    }

    @Override
    public void run(int actor) {
        for (int step = 0; step < steps.length; step++) {
            if (threads[step] == actor) {
                gates.await(0, step);
                results[step] = operations.invoke(steps[step], target);
                gates.reach(0, step + 1);
            }
        }
    }
}
