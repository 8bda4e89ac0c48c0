// A lock that knows its owner: what it answers depends on which thread asks, so that nothing sequential can be compared
// with. Nothing may be reported.
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
