// All writes hold the lock, so that the reads that hold it too move; the one write is all that others can see.
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
