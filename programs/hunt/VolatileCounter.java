// Two threads increment a volatile field, which is a read and a write; a lost increment shows only in the exit code.
// fissure: must-be-bug failure VolatileCounter.main
// fissure: program-exit 3
public class VolatileCounter implements Runnable {
    private volatile int count;

    @Override
    public void run() {
        for (int i = 0; i < 2; i++) {
            count++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        VolatileCounter work = new VolatileCounter();
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (work.count != 4) {
            System.exit(3);
        }
    }
}
