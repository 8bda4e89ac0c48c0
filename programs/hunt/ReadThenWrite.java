// Two threads read a count under the read lock and write it under the write lock; a remote write between the two is lost.
// fissure: must-be-bug failure ReadThenWrite.main
// fissure: program-exit 1
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class ReadThenWrite {
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
        int known = votes("ann");
        set("ann", known + 1);
    }

    public static void main(String[] args) throws InterruptedException {
        ReadThenWrite poll = new ReadThenWrite();
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
