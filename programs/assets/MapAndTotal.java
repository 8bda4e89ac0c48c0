// A concurrent map of amounts and their total, both static. No lock covers both, so an audit may read a total and a map that do not
// match, in each of the possible orders (patterns 8 to 11).
// fissure: config contents = true
// fissure: must-be-bug 9 MapAndTotal$Ledger
// fissure: may-confirm 8 MapAndTotal$Ledger
// fissure: may-confirm 10 MapAndTotal$Ledger
// fissure: may-confirm 11 MapAndTotal$Ledger
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

public class MapAndTotal {
    static final class Ledger {
        private static final Map<String, Long> AMOUNTS = new ConcurrentHashMap<>();
        private static long total;

        static void post(String name, long amount) {
            AMOUNTS.merge(name, amount, Long::sum);
            total += amount;
        }

        static void audit() {
            long told = total;
            long[] sum = new long[1];
            AMOUNTS.forEach((name, amount) -> sum[0] += amount);
            if (sum[0] != told) {
                throw new IllegalStateException("the amounts are " + sum[0] + " and their total " + told);
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
        Ledger.post("rent", 100);
        Thread clerk = new Thread("clerk") {
            @Override
            public void run() {
                Ledger.post("food", 20);
                busy(8);
            }
        };
        Thread auditor = new Thread("auditor") {
            @Override
            public void run() {
                busy(8);
                Ledger.audit();
            }
        };
        clerk.start();
        auditor.start();
        clerk.join();
        auditor.join();
        System.out.println("done");
    }
}
