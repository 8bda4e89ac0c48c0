import java.util.Random;

/**
 * Random programs over fields and array elements, with locks and volatile fields. The arguments are the seed of the first program and how
 * many there are. Each program is executed in a fixed order of its steps, which is printed:
 *
 * <pre>
 * program SEED
 * THREAD r|w OBJECT a|b|INDEX     accesses a field, or an element of the object's array
 * THREAD l|u LOCK                 acquires or releases a lock
 * THREAD vr|vw OBJECT             reads or writes the volatile field
 * </pre>
 *
 * Threads pass on the turn by interrupting each other, which is no synchronization for Fissure, so that it does not order accesses.
 */
public class RandomAccesses {
    static final int FIELD_A = 0;
    static final int FIELD_B = 1;
    static final int ELEMENT = 2;
    static final int RANGE = 3;
    static final int VOLATILE = 4;
    static final int ACQUIRE = 5;
    static final int RELEASE = 6;

    static final class Shared {
        int a;
        int b;
        volatile int flag;
        final int[] items;

        Shared(int length) {
            items = new int[length];
        }
    }

    static final class Step {
        final int thread;
        final int kind;
        final boolean write;
        /** The object or the lock. */
        final int number;
        final int from;
        final int to;

        Step(int thread, int kind, boolean write, int number, int from, int to) {
            this.thread = thread;
            this.kind = kind;
            this.write = write;
            this.number = number;
            this.from = from;
            this.to = to;
        }
    }

    /** A program under construction: which locks each thread holds, innermost last. */
    static final class Generator {
        final Random random;
        final int threads;
        final Shared[] objects;
        final int locks;
        final int[][] held;
        final int[] depths;
        final java.util.ArrayList<Step> steps = new java.util.ArrayList<>();

        Generator(long seed) {
            random = new Random(seed);
            threads = 2 + random.nextInt(3);
            objects = new Shared[1 + random.nextInt(3)];
            for (int i = 0; i < objects.length; i++) {
                objects[i] = new Shared(1 + random.nextInt(random.nextInt(4) == 0 ? 300 : 12));
            }
            locks = 1 + random.nextInt(3);
            held = new int[threads][8];
            depths = new int[threads];
        }

        Step[] generate() {
            int count = 10 + random.nextInt(60);
            boolean isLocked = random.nextInt(3) != 0;
            while (steps.size() < count) {
                int thread = random.nextInt(threads);
                for (int i = random.nextInt(6); i >= 0; i--) {
                    step(thread, isLocked);
                }
            }
            for (int thread = 0; thread < threads; thread++) {
                while (depths[thread] > 0) {
                    release(thread);
                }
            }
            return steps.toArray(new Step[0]);
        }

        private void step(int thread, boolean isLocked) {
            int choice = random.nextInt(12);
            int object = random.nextInt(objects.length);
            boolean write = random.nextInt(3) == 0;
            int length = objects[object].items.length;
            int from = random.nextInt(length);
            if (choice < 2) {
                add(thread, choice, write, object, 0, 0);
            } else if (choice < 5) {
                add(thread, ELEMENT, write, object, from, from);
            } else if (choice < 8) {
                add(thread, RANGE, write, object, from, from + random.nextInt(length - from + 1));
            } else if (choice == 8) {
                add(thread, VOLATILE, write, object, 0, 0);
            } else if (choice == 9 && depths[thread] > 0) {
                release(thread);
            } else if (isLocked && depths[thread] < 3) {
                acquire(thread, random.nextInt(locks));
            }
        }

        /** A lock that another thread holds is left alone, because the order of steps is fixed. */
        private void acquire(int thread, int lock) {
            for (int other = 0; other < threads; other++) {
                for (int at = 0; at < depths[other]; at++) {
                    if (other != thread && held[other][at] == lock) {
                        return;
                    }
                }
            }
            held[thread][depths[thread]++] = lock;
            add(thread, ACQUIRE, false, lock, 0, 0);
        }

        private void release(int thread) {
            add(thread, RELEASE, false, held[thread][--depths[thread]], 0, 0);
        }

        private void add(int thread, int kind, boolean write, int number, int from, int to) {
            steps.add(new Step(thread, kind, write, number, from, to));
        }
    }

    static final class Worker extends Thread {
        final int number;
        final Step[] steps;
        final Shared[] objects;
        final Object[] locks;
        final Worker[] all;

        Worker(int number, Step[] steps, Shared[] objects, Object[] locks, Worker[] all) {
            this.number = number;
            this.steps = steps;
            this.objects = objects;
            this.locks = locks;
            this.all = all;
        }

        @Override
        public void run() {
            execute(0);
        }

        /** Executes this thread's steps from a position on, up to the release of the innermost lock, whose position it returns. */
        private int execute(int position) {
            int at = position;
            while (at < steps.length) {
                Step step = steps[at];
                if (step.thread != number) {
                    at++;
                    continue;
                }
                awaitTurn(at);
                if (step.kind == RELEASE) {
                    return at;
                }
                if (step.kind == ACQUIRE) {
                    synchronized (locks[step.number]) {
                        endTurn(at);
                        at = execute(at + 1);
                    }
                } else {
                    access(step, objects[step.number]);
                }
                endTurn(at);
                at++;
            }
            return at;
        }

        private void awaitTurn(int at) {
            if (at == 0 || steps[at - 1].thread == number) {
                return;
            }
            try {
                Thread.sleep(600_000);
                throw new IllegalStateException("nobody passed on the turn");
            } catch (InterruptedException turn) {
                // The interrupt is the turn.
            }
        }

        private void endTurn(int at) {
            if (at + 1 < steps.length && steps[at + 1].thread != number) {
                all[steps[at + 1].thread].interrupt();
            }
        }

        private static void access(Step step, Shared object) {
            switch (step.kind) {
                case FIELD_A:
                    if (step.write) {
                        object.a = 1;
                    } else {
                        sink(object.a);
                    }
                    break;
                case FIELD_B:
                    if (step.write) {
                        object.b = 1;
                    } else {
                        sink(object.b);
                    }
                    break;
                case ELEMENT:
                    if (step.write) {
                        object.items[step.from] = 1;
                    } else {
                        sink(object.items[step.from]);
                    }
                    break;
                case RANGE:
                    range(object, step.from, step.to, step.write);
                    break;
                default:
                    if (step.write) {
                        object.flag = 1;
                    } else {
                        sink(object.flag);
                    }
            }
        }

        private static void range(Shared object, int from, int to, boolean write) {
            int[] items = object.items;
            if (write) {
                for (int i = from; i < to; i++) {
                    items[i] = i;
                }
            } else {
                int sum = 0;
                for (int i = from; i < to; i++) {
                    sum += items[i];
                }
                sink(sum);
            }
        }

        private static void sink(int value) {
            if (value == Integer.MIN_VALUE) {
                throw new IllegalStateException("no step writes this value");
            }
        }
    }

    private static void print(Step step, StringBuilder out) {
        String access = step.thread + (step.write ? " w " : " r ") + step.number + " ";
        switch (step.kind) {
            case FIELD_A:
                out.append(access).append("a\n");
                break;
            case FIELD_B:
                out.append(access).append("b\n");
                break;
            case ELEMENT:
                out.append(access).append(step.from).append('\n');
                break;
            case RANGE:
                for (int i = step.from; i < step.to; i++) {
                    out.append(access).append(i).append('\n');
                }
                break;
            case VOLATILE:
                out.append(step.thread).append(step.write ? " vw " : " vr ").append(step.number).append('\n');
                break;
            default:
                String kind = step.kind == ACQUIRE ? " l " : " u ";
                out.append(step.thread).append(kind).append(step.number).append('\n');
        }
    }

    private static void run(long seed) throws InterruptedException {
        Generator generator = new Generator(seed);
        Step[] steps = generator.generate();
        StringBuilder out = new StringBuilder("program " + seed + "\n");
        for (Step step : steps) {
            print(step, out);
        }
        System.out.print(out);
        Object[] locks = new Object[generator.locks];
        for (int i = 0; i < locks.length; i++) {
            locks[i] = new Object();
        }
        Worker[] workers = new Worker[generator.threads];
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(i, steps, generator.objects, locks, workers);
        }
        // A thread that has not been started cannot be interrupted, so that the one with the first step starts last.
        for (Worker worker : workers) {
            if (worker.number != steps[0].thread) {
                worker.start();
            }
        }
        workers[steps[0].thread].start();
        for (Worker worker : workers) {
            worker.join();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long first = Long.parseLong(args[0]);
        for (long seed = first; seed < first + Long.parseLong(args[1]); seed++) {
            run(seed);
        }
    }
}
