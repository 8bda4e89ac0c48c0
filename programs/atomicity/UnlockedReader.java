// What others read without the lock is written twice under it, so that they can see the state in between.
// fissure: must-find atomizer atomicity-violation UnlockedReader.grow
public class UnlockedReader {
    private volatile int size;

    synchronized void grow() {
        size++;
        size++;
    }

    int size() {
        return size;
    }

    public static void main(String[] args) throws InterruptedException {
        UnlockedReader range = new UnlockedReader();
        Thread one = new Thread(range::grow);
        Thread other = new Thread(range::size);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
