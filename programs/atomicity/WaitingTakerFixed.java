// The block waits on its own lock, so it is not expected to be atomic.
public class WaitingTakerFixed {
    private final Object statistics = new Object();
    private boolean isFull;
    private int taken;

    synchronized void put() {
        isFull = true;
        notifyAll();
    }

    synchronized void take() {
        while (!isFull) {
            try {
                wait();
            } catch (InterruptedException interrupted) {
                return;
            }
        }
        isFull = false;
        synchronized (statistics) {
            taken++;
        }
    }


    int taken() {
        synchronized (statistics) {
            return taken;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WaitingTakerFixed slot = new WaitingTakerFixed();
        Thread one = new Thread(() -> {
            slot.take();
            slot.take();
        });
        Thread other = new Thread(() -> {
            while (slot.taken() < 2) {
                slot.put();
                Thread.yield();
            }
        });
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
