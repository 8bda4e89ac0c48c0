// The rule about protected locks: the vector's own lock is only taken while the owner's lock is held.
// fissure: rule protected-lock LooseVectorFixed.add
import java.util.Vector;

public class LooseVectorFixed {
    private final Vector<String> names = new Vector<>();

    synchronized void add(String name) {
        if (!names.contains(name)) {
            names.add(name);
        }
    }

    synchronized void forget() {
        names.clear();
    }

    public static void main(String[] args) throws InterruptedException {
        LooseVectorFixed list = new LooseVectorFixed();
        Thread one = new Thread(() -> list.add("a"));
        Thread other = new Thread(list::forget);
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
