// A block that waits on its own lock is not expected to be atomic; a method that calls it twice is declared atomic.
// fissure: detect --atomic WaitingTaker.takeBoth
// fissure: must-find atomizer atomicity-violation WaitingTaker.takeBoth
public class WaitingTaker {
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

    void takeBoth() {
        take();
        take();
    }

    int taken() {
        synchronized (statistics) {
            return taken;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        WaitingTaker slot = new WaitingTaker();
        Thread one = new Thread(() -> {
            slot.takeBoth();
            if (slot.taken() != 2) {
                throw new AssertionError();
            }
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
