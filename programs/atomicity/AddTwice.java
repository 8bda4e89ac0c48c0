// A method without a lock makes two synchronized calls and is declared atomic.
// fissure: detect --atomic AddTwice.addTwo
// fissure: must-find atomizer atomicity-violation AddTwice.addTwo
public class AddTwice {
    private int items;

    synchronized void add() {
        items++;
    }

    void addTwo() {
        add();
        add();
    }

    synchronized int size() {
        return items;
    }

    public static void main(String[] args) throws InterruptedException {
        AddTwice box = new AddTwice();
        Thread one = new Thread(box::addTwo);
        Thread other = new Thread(box::size);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
