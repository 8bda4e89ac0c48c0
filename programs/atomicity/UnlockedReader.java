// A method writes a field twice under the lock; another thread reads it without the lock and can see the intermediate value.
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
