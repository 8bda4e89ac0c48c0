// All writes hold the lock, so reads under the lock are both-movers; a reader without the lock sees only the one write.
public class UnlockedReaderFixed {
    private volatile int size;

    synchronized void grow() {
        size++;
    }

    int size() {
        return size;
    }

    public static void main(String[] args) throws InterruptedException {
        UnlockedReaderFixed range = new UnlockedReaderFixed();
        Thread one = new Thread(range::grow);
        Thread other = new Thread(range::size);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
