// The correct twin of ReadThenWrite: the threads read and write under the write lock.
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadThenWriteFixed {
    private final Map<String, Integer> votes = new HashMap<>();
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    int votes(String name) {
        lock.readLock().lock();
        try {
            return votes.getOrDefault(name, 0);
        } finally {
            lock.readLock().unlock();
        }
    }

    void set(String name, int count) {
        lock.writeLock().lock();
        try {
            votes.put(name, count);
        } finally {
            lock.writeLock().unlock();
        }
    }

    void vote() {
        lock.writeLock().lock();
        try {
            set("ann", votes("ann") + 1);
        } finally {
            lock.writeLock().unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ReadThenWriteFixed poll = new ReadThenWriteFixed();
        Runnable work = poll::vote;
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (poll.votes("ann") != 2) {
            throw new IllegalStateException("votes " + poll.votes("ann"));
        }
    }
}
