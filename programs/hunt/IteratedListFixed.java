// The correct twin of IteratedList: a CopyOnWriteArrayList iterates over a snapshot.
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

public class IteratedListFixed {
    private final List<String> names = new CopyOnWriteArrayList<>();

    void print() {
        for (String name : names) {
            System.out.println(name);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        IteratedListFixed guests = new IteratedListFixed();
        guests.names.add("ann");
        guests.names.add("bob");
        Thread printer = new Thread(guests::print);
        Thread adder = new Thread(() -> guests.names.add("eve"));
        printer.start();
        adder.start();
        printer.join();
        adder.join();
    }
}
