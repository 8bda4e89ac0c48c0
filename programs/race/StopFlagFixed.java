// Volatile fields are synchronization: a flag, a reference and a counter; none of them is reported.
// fissure: must-not-find-ordered StopFlagFixed.stop
// fissure: must-not-find-ordered StopFlagFixed.message
// fissure: must-not-find-ordered StopFlagFixed.turns
public class StopFlagFixed {
    private static volatile boolean stop;
    private static volatile String message = "run";
    private volatile long turns;
    private long idle;

    synchronized void idle() {
        idle++;
    }

    void work() {
        do {
            turns++;
            idle();
            Thread.yield();
        } while (!stop);
        message = "worker stopped";
    }

    public static void main(String[] args) throws InterruptedException {
        StopFlagFixed state = new StopFlagFixed();
        Thread worker = new Thread(state::work);
        worker.start();
        state.idle();
        while (state.turns == 0) {
            Thread.yield();
        }
        stop = true;
        message = "main stopped";
        worker.join();
        System.out.println("done");
    }
}
