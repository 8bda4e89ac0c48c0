// A semaphore admits two threads to a pool; each finds a free slot and then uses it, so both may choose the same slot.
// fissure: must-be-bug atomicity-violation SemaphorePool$Client.reserve
import java.util.concurrent.Semaphore;

public class SemaphorePool {
    static class Slots {
        private final boolean[] used = new boolean[2];

        synchronized int firstFree() {
            return used[0] ? 1 : 0;
        }

        synchronized void use(int slot) {
            if (used[slot]) {
                throw new IllegalStateException("slot " + slot + " is used");
            }
            used[slot] = true;
        }
    }

    static class Client {
        private final Slots slots;

        Client(Slots slots) {
            this.slots = slots;
        }

        synchronized void reserve() {
            slots.use(slots.firstFree());
        }
    }

    static void client(Semaphore permits, Slots slots) {
        permits.acquireUninterruptibly();
        try {
            new Client(slots).reserve();
        } finally {
            permits.release();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Semaphore permits = new Semaphore(2);
        Slots slots = new Slots();
        Thread first = new Thread(() -> client(permits, slots));
        Thread second = new Thread(() -> client(permits, slots));
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
