// One method uses the vector under the owner's lock, another without it.
// fissure: must-find atomizer atomicity-violation LooseVector.add
import java.util.Vector;

public class LooseVector {
    private final Vector<String> names = new Vector<>();

    synchronized void add(String name) {
        if (!names.contains(name)) {
            names.add(name);
        }
    }

    void forget() {
        names.clear();
    }

    public static void main(String[] args) throws InterruptedException {
        LooseVector list = new LooseVector();
        Thread one = new Thread(() -> list.add("a"));
        Thread other = new Thread(list::forget);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
