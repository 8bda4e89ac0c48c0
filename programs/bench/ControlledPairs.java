// Uncontended acquires and releases of one monitor while the only other thread waits: what a controlled pair costs that no
// switch follows. How many is the argument.
public class ControlledPairs {
    private long value;

    synchronized void step() {
        value++;
    }

    public static void main(String[] args) {
        long count = Long.parseLong(args[0]);
        ControlledPairs state = new ControlledPairs();
        Object never = new Object();
        Thread idle = new Thread(() -> {
            synchronized (never) {
                try {
                    never.wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        idle.setDaemon(true);
        idle.start();
        for (long i = 0; i < count; i++) {
            state.step();
        }
        System.out.println(state.value);
    }
}
