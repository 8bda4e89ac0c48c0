package fissure.object;

import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The program in which Fissure runs harnesses. It stays alive from harness to harness, so that its code stays compiled, and executes
 * commands from standard input. Output of the objects under test is discarded.
 */
public final class Driver {
    private static final int DESCRIBE = 1;
    private static final int LOAD = 2;
    private static final int RUN = 3;
    private static final int STRESS = 4;
    private static final int RELAY = 5;
    private static final int EXPLORE = 6;

    /** Threads that make no progress for this many milliseconds are stuck. */
    private static final long PATIENCE = 5_000;

    /** The same for threads of which the agent knows that none can continue. */
    private static final long STUCK = 300;

    /** Threads are preempted at random for this many milliseconds, then left alone for as long; a power of two. */
    private static final int NUDGED = 8;

    /** So often the driver looks after so many nanoseconds whether an exploration has ended, then less often. */
    private static final int SHORT_POLLS = 20;
    private static final long SHORT_POLL = 100_000;

    private final Channel channel;
    private final Actors actors;
    private final ClassLoader loader = Driver.class.getClassLoader();
    /** Runs of the loaded operations whose last operation waits for ever. */
    private final Map<List<Integer>, int[]> waits = new HashMap<>();
    private Operations operations;
    private Dictionary dictionary;
    private int turn;

    private Driver(Channel channel, int actors) {
        this.channel = channel;
        this.actors = new Actors(actors);
    }

    /** The only argument is the maximum number of sequences. */
    public static void main(String[] arguments) throws Exception {
        Channel channel = new Channel(new FileInputStream(FileDescriptor.in), new FileOutputStream(FileDescriptor.out));
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        System.setOut(nowhere);
        System.setErr(nowhere);
        System.setIn(InputStream.nullInputStream());
        Driver driver = new Driver(channel, Integer.parseInt(arguments[0]));
        channel.writeText("ready " + System.getProperty("java.version"));
        channel.out.flush();
        try {
            while (driver.serve()) {
                channel.out.flush();
            }
        } catch (EOFException end) {
            // Fissure has ended, so that this process ends, too.
        }
        // Threads started by objects under test must not keep the JVM alive.
        Runtime.getRuntime().halt(0);
    }

    /** Executes one command; returns whether the JVM can continue. */
    private boolean serve() throws IOException, InterruptedException {
        int command = channel.in.readUnsignedByte();
        switch (command) {
            case DESCRIBE:
                Describe.write(channel, channel.readText(), channel.readText(), loader);
                return true;
            case LOAD:
                load();
                return true;
            case RUN:
                return run();
            case STRESS:
                return stress();
            case RELAY:
                return relay();
            case EXPLORE:
                return explore();
            default:
                throw new IOException("unknown command " + command);
        }
    }

    private void load() throws IOException {
        String target = channel.readText();
        String name = channel.readText();
        String near = channel.readText();
        String expression = channel.readText();
        byte[] bytes = channel.readBytes();
        int number = channel.in.readInt();
        Object[] constants = new Object[number];
        String problem = "";
        Class<?> asked = null;
        try {
            asked = Class.forName(near, false, loader);
        } catch (ClassNotFoundException | LinkageError error) {
            problem = error.toString();
        }
        waits.clear();
        for (int at = 0; at < number; at++) {
            try {
                constants[at] = channel.readValue(loader, asked);
            } catch (ClassNotFoundException | IllegalArgumentException error) {
                problem = error.toString();
            }
        }
        try {
            Class<?> type = Class.forName(target, true, loader);
            Class<?> generated = Describe.isReachable(type) ? new Loader(loader).define(name, bytes)
                    : MethodHandles.privateLookupIn(type, MethodHandles.lookup()).defineClass(bytes);
            operations = (Operations) generated.getDeclaredConstructor().newInstance();
            operations.constants = constants;
            if (!expression.isEmpty()) {
                operations.maker = new Expression(expression, asked, loader);
                check(type);
            }
            dictionary = new Dictionary();
        } catch (Throwable error) {
            problem = error.toString();
        }
        channel.writeText(problem);
    }

    /** Checks that the expression makes new objects of the class. */
    private void check(Class<?> type) throws Throwable {
        Object one = operations.create();
        if (!type.isInstance(one)) {
            throw new IllegalArgumentException(
                    "the expression gives " + (one == null ? "null" : "a " + one.getClass().getName()) + ", no " + type.getName());
        }
        if (one == operations.create()) {
            throw new IllegalArgumentException("the expression gives the same object each time");
        }
    }

    private boolean run() throws IOException, InterruptedException {
        long patience = channel.in.readInt();
        int repetitions = channel.in.readInt();
        int[][] runs = new int[channel.in.readInt()][];
        for (int at = 0; at < runs.length; at++) {
            runs[at] = channel.readNumbers();
        }
        Runner runner = new Runner(operations, dictionary, runs, repetitions, waits);
        boolean fit = runner.run(patience);
        for (int at = 0; at < runs.length; at++) {
            channel.out.writeByte(runner.ends[at]);
            if (runner.ends[at] == Runner.WAITS) {
                channel.out.writeInt(runner.results[at].length);
            }
            if (runner.ends[at] == Runner.FINE || runner.ends[at] == Runner.WAITS) {
                for (int number : runner.results[at]) {
                    channel.out.writeInt(number);
                }
            }
        }
        channel.writeText(runner.problem);
        finish(fit);
        return fit;
    }

    private int[][] readSequences() throws IOException {
        int[][] sequences = new int[channel.in.readInt()][];
        for (int at = 0; at < sequences.length; at++) {
            sequences[at] = channel.readNumbers();
        }
        return sequences;
    }

    private boolean stress() throws IOException, InterruptedException {
        int[][] sequences = readSequences();
        int[][] before = readSequences();
        int[][] atomic = readSequences();
        int[] nudged = channel.readNumbers();
        long nanoseconds = channel.in.readLong();
        boolean patient = channel.in.readBoolean();
        String problem = "";
        boolean fit = true;
        long started = System.nanoTime();
        long elapsed = 0;
        Counts counts = null;
        long[] later = new long[2];
        try {
            Stress stress = new Stress(operations, dictionary, sequences, before, atomic, nanoseconds, patient);
            nudged = stress.actors(nudged);
            actors.start(stress, stress.actors());
            fit = await(stress, nudged);
            actors.nudge(nudged, false);
            elapsed = System.nanoTime() - started;
            Throwable failure = actors.failure(stress.actors());
            if (!fit) {
                problem = "stuck";
            } else if (failure != null) {
                problem = failure.toString();
            } else {
                counts = stress.counted();
                later = stress.later();
            }
        } catch (InterruptedException error) {
            throw error;
        } catch (Throwable error) {
            problem = error.toString();
        }
        write(problem, elapsed, counts);
        for (long number : later) {
            channel.out.writeLong(number);
        }
        finish(fit);
        return fit;
    }

    private void write(String problem, long elapsed, Counts counts) throws IOException {
        channel.writeText(problem);
        channel.out.writeLong(elapsed);
        channel.out.writeInt(counts == null ? 0 : counts.size());
        for (int at = 0; counts != null && at < counts.size(); at++) {
            for (int number : counts.row(at)) {
                channel.out.writeInt(number);
            }
            channel.out.writeLong(counts.count(at));
        }
        channel.out.writeLong(counts == null ? 0 : counts.beyond);
    }

    private boolean explore() throws IOException, InterruptedException {
        int[][] sequences = readSequences();
        int[] pairs = channel.readNumbers();
        int[][] atomic = readSequences();
        int preemptions = channel.in.readInt();
        long nanoseconds = channel.in.readLong();
        long most = channel.in.readLong();
        boolean patient = channel.in.readBoolean();
        int[] whole = channel.readNumbers();
        String problem = "";
        boolean fit = true;
        long started = System.nanoTime();
        Counts counts = null;
        long[] explored = new long[7];
        String interleaving = "";
        try {
            Explorer explorer =
                    new Explorer(operations, dictionary, sequences, atomic, nanoseconds, most, patient, whole);
            if (!Explorer.open(actors.threads(sequences.length), pairs, preemptions, whole)) {
                throw new IllegalStateException("the agent is not there");
            }
            actors.start(explorer, sequences.length);
            fit = await(explorer, sequences.length);
            Throwable failure = explorer.failure();
            Explorer.explored(explored);
            if (!fit) {
                problem = "stuck";
            } else if (failure != null || actors.failure(sequences.length) != null) {
                problem = String.valueOf(failure != null ? failure : actors.failure(sequences.length));
            } else {
                counts = explorer.counted();
                interleaving = explorer.interleaving;
                Explorer.close();
            }
        } catch (InterruptedException error) {
            throw error;
        } catch (Throwable error) {
            problem = error.toString();
        }
        write(problem, System.nanoTime() - started, counts);
        for (long number : explored) {
            channel.out.writeLong(number);
        }
        channel.writeText(interleaving);
        finish(fit);
        return fit;
    }

    /** Waits for the threads as long as they complete executions; returns false if they are stuck. */
    private boolean await(Explorer explorer, int number) throws InterruptedException {
        long seen = -1;
        long since = System.nanoTime();
        for (int polls = 0; !actors.ended(number); polls++) {
            // Most harnesses have few schedules and end at once.
            if (polls < SHORT_POLLS) {
                LockSupport.parkNanos(SHORT_POLL);
            } else {
                Thread.sleep(1);
            }
            long now = System.nanoTime();
            if (explorer.progress() != seen) {
                seen = explorer.progress();
                since = now;
            } else if (now - since > TimeUnit.MILLISECONDS.toNanos(explorer.isStuck() ? STUCK : PATIENCE)) {
                return false;
            }
        }
        return true;
    }

    /** Waits for the threads as long as they make progress, and preempts some of them at random; returns false if they are stuck. */
    private boolean await(Stress stress, int[] nudged) throws InterruptedException {
        long seen = -1;
        long since = System.nanoTime();
        while (!actors.ended(stress.actors())) {
            // Only half of the time: if other programs compete for the processor, each preemption is expensive.
            actors.nudge(nudged, (turn++ & NUDGED) != 0);
            Thread.sleep(1);
            long now = System.nanoTime();
            if (stress.progress() != seen) {
                seen = stress.progress();
                since = now;
            } else if (now - since > TimeUnit.MILLISECONDS.toNanos(PATIENCE)) {
                stress.close();
                return false;
            }
        }
        return true;
    }

    private boolean relay() throws IOException, InterruptedException {
        int number = channel.in.readInt();
        int repetitions = channel.in.readInt();
        int[][] steps = readSequences();
        int[][] threads = readSequences();
        String problem = "";
        boolean fit = true;
        int[][] results = new int[steps.length * repetitions][];
        for (int at = 0; at < results.length && problem.isEmpty(); at++) {
            int line = at % steps.length;
            try {
                Relay relay = new Relay(operations, steps[line], threads[line]);
                actors.start(relay, number);
                long since = System.nanoTime();
                while (!actors.ended(number) && fit) {
                    Thread.onSpinWait();
                    if (System.nanoTime() - since > TimeUnit.MILLISECONDS.toNanos(PATIENCE)) {
                        relay.close();
                        fit = false;
                        problem = "stuck";
                    }
                }
                results[at] = new int[steps[line].length];
                for (int step = 0; step < results[at].length; step++) {
                    results[at][step] = dictionary.number(relay.results()[step]);
                }
            } catch (Throwable error) {
                problem = error.toString();
            }
        }
        channel.writeText(problem);
        for (int at = 0; at < results.length && problem.isEmpty(); at++) {
            for (int result : results[at]) {
                channel.out.writeInt(result);
            }
        }
        finish(fit);
        return fit;
    }

    /** Writes the last part of an answer: new texts, and whether this JVM is still usable. */
    private void finish(boolean fit) throws IOException {
        channel.writeTexts(dictionary.news());
        channel.out.writeBoolean(fit);
        channel.out.flush();
    }

    /** Defines a generated class, each in a separate loader so that it can be unloaded. */
    private static final class Loader extends ClassLoader {
        Loader(ClassLoader parent) {
            super(parent);
        }

        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}
