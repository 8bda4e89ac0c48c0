// The rule about reentrant locks: both calls take a lock that the method already holds.
// fissure: detect --atomic AddTwiceFixed.addTwo
// fissure: rule re-entrant AddTwiceFixed.addTwo
public class AddTwiceFixed {
    private int items;

    synchronized void add() {
        items++;
    }

    synchronized void addTwo() {
        add();
        add();
    }

    synchronized int size() {
        return items;
    }

    public static void main(String[] args) throws InterruptedException {
        AddTwiceFixed box = new AddTwiceFixed();
        Thread one = new Thread(box::addTwo);
        Thread other = new Thread(box::size);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
