// The correct twin of VolatileCounter: the increments are synchronized.
public class VolatileCounterFixed implements Runnable {
    private volatile int count;

    @Override
    public synchronized void run() {
        for (int i = 0; i < 2; i++) {
            count++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        VolatileCounterFixed work = new VolatileCounterFixed();
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
