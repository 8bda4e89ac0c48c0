// A lock that stores its owner: its results depend on the calling thread, so a concurrent run cannot be compared with a
// sequential one. Nothing may be reported.
// fissure: object --core tryLock,unlock
// fissure: atomic isMine
public class OwnedLock {
    private Thread owner;
    private int holds;

    public synchronized boolean tryLock() {
        if (owner != null && owner != Thread.currentThread()) {
            return false;
        }
        owner = Thread.currentThread();
        holds++;
        return true;
    }

    public synchronized boolean unlock() {
        if (owner != Thread.currentThread()) {
            return false;
        }
        if (--holds == 0) {
            owner = null;
        }
        return true;
    }

    public synchronized boolean isMine() {
        return owner == Thread.currentThread();
    }
}
