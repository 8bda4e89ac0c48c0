// Reentrant locks that were taken several times and released once less are still held.
import java.util.concurrent.locks.ReentrantLock;

public class ReentrantFixed {
    private final ReentrantLock lock = new ReentrantLock();
    private int monitored;
    private int locked;

    synchronized int descend(int depth) {
        int below = depth == 0 ? 0 : descend(depth - 1);
        monitored++;
        return below + 1;
    }

    void work() {
        for (int i = 0; i < 100; i++) {
            descend(5);
            lock.lock();
            try {
                lock.lock();
                lock.unlock();
                locked++;
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ReentrantFixed state = new ReentrantFixed();
        Thread first = new Thread(state::work);
        Thread second = new Thread(state::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (state.monitored != 1200 || state.locked != 200) {
            throw new AssertionError(state.monitored);
        }
        System.out.println("done");
    }
}
