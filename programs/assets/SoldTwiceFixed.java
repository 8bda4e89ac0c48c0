// The correct twin: the seller holds the list's lock from size to add.
// fissure: config contents = true
// fissure: nothing-predicted
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class SoldTwiceFixed {
    static final class Office {
        private List<String> sold = Collections.synchronizedList(new ArrayList<>());

        void sell() {
            synchronized (sold) {
                String ticket = "ticket " + sold.size();
                sold.add(ticket);
            }
        }

        void sellFirst() {
            List<String> all = sold;
            synchronized (all) {
                int number = all.size();
                all.add(0, "ticket " + number);
            }
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
