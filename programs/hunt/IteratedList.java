// One thread iterates over an ArrayList while another adds to it: ConcurrentModificationException.
// fissure: must-be-bug failure IteratedList.print
// fissure: program-exit 0
import java.util.ArrayList;
import java.util.List;

public class IteratedList {
    private final List<String> names = new ArrayList<>();

    void print() {
        for (String name : names) {
            System.out.println(name);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        IteratedList guests = new IteratedList();
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
