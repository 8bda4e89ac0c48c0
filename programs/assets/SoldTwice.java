// Two threads number tickets by the size of a synchronized list and add them. Each call of the list is atomic, but size and add together
// are not: two tickets get the same number (pattern 1). One of the methods keeps the list in a local variable.
// fissure: config contents = true
// fissure: must-be-bug 1 SoldTwice$Office
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class SoldTwice {
    static final class Office {
        private List<String> sold = Collections.synchronizedList(new ArrayList<>());

        void sell() {
            String ticket = "ticket " + sold.size();
            sold.add(ticket);
        }

        void sellFirst() {
            List<String> all = sold;
            int number = all.size();
            all.add(0, "ticket " + number);
        }
    }

    // Unrelated work of the thread.
    static void busy(int times) {
        Object own = new Object();
        for (int i = 0; i < times; i++) {
            synchronized (own) {
                own.hashCode();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Office office = new Office();
        Thread one = new Thread("one") {
            @Override
            public void run() {
                office.sell();
                busy(8);
            }
        };
        Thread another = new Thread("another") {
            @Override
            public void run() {
                busy(8);
                office.sellFirst();
            }
        };
        one.start();
        another.start();
        one.join();
        another.join();
        if (office.sold.get(0).equals(office.sold.get(1))) {
            throw new IllegalStateException(office.sold.get(0) + " was sold twice");
        }
        System.out.println("done");
    }
}
