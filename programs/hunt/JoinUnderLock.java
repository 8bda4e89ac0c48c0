// Whoever waits for the end of a thread with a lock that this thread needs waits for ever.
// fissure: must-be-bug deadlock JoinUnderLock.*
public class JoinUnderLock {
    private final Thread worker = new Thread(this::work, "worker");
    private int value;

    synchronized void work() {
        value++;
    }

    synchronized void stop() throws InterruptedException {
        worker.join();
    }

    public static void main(String[] args) throws InterruptedException {
        JoinUnderLock state = new JoinUnderLock();
        state.worker.start();
        state.stop();
    }
}
