// The correct twin of SemaphorePool: one synchronized method finds and uses a slot.
import java.util.concurrent.Semaphore;

public class SemaphorePoolFixed {
    static class Slots {
        private final boolean[] used = new boolean[2];

        synchronized void useFirstFree() {
            int slot = used[0] ? 1 : 0;
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
            slots.useFirstFree();
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
