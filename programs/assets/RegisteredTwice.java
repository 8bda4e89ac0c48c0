// Two threads register the same name with a synchronized list. Each call of the list is atomic, but the look and the addition are not: the
// name is there twice in the end (pattern 1). The second thread has the list in a local variable.
// fissure: config contents = true
// fissure: must-be-bug 1 RegisteredTwice$Registry
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class RegisteredTwice {
    static final class Registry {
        private List<String> names = Collections.synchronizedList(new ArrayList<>());

        void register(String name) {
            if (!names.contains(name)) {
                names.add(name);
            }
        }

        void registerNew(String name) {
            List<String> known = names;
            boolean isKnown = known.contains(name);
            if (!isKnown) {
                known.add(0, name);
            }
        }
    }

    // Something else to do, which nobody waits for.
    static void busy(int times) {
        Object own = new Object();
        for (int i = 0; i < times; i++) {
            synchronized (own) {
                own.hashCode();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Registry registry = new Registry();
        Thread one = new Thread("one") {
            @Override
            public void run() {
                registry.register("ada");
                busy(8);
            }
        };
        Thread another = new Thread("another") {
            @Override
            public void run() {
                busy(8);
                registry.registerNew("ada");
            }
        };
        one.start();
        another.start();
        one.join();
        another.join();
        if (registry.names.size() != 1) {
            throw new IllegalStateException("registered " + registry.names.size() + " times");
        }
        System.out.println("done");
    }
}
