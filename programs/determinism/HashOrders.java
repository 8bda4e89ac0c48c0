// The iteration order of collections that depends on identity hash codes, and of immutable collections with a random salt.
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

public class HashOrders {
    enum Colour {
        RED, GREEN, BLUE
    }

    static class Named {
        final String name;

        Named(String name) {
            this.name = name;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Map<Named, Integer> shared = Collections.synchronizedMap(new HashMap<>());
        Map<Object, Integer> concurrent = new ConcurrentHashMap<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                Set<Object> locks = new HashSet<>();
                for (int k = 0; k < 6; k++) {
                    Named named = new Named(number + "." + k);
                    synchronized (named) {
                        shared.put(named, number);
                        concurrent.put(named, k);
                    }
                    locks.add(new Object());
                    synchronized (locks) {
                        locks.add(named);
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        StringBuilder order = new StringBuilder();
        shared.keySet().forEach(named -> order.append(named.name).append(' '));
        System.out.println(order);
        System.out.println(concurrent.values());
        Map<Object, String> identities = new IdentityHashMap<>();
        threads.forEach(thread -> identities.put(thread, thread.getName()));
        identities.put(HashOrders.class, "class");
        System.out.println(identities.values());
        System.out.println(Set.of("a", "b", "c", "d", "e") + " " + Map.of(1, 2, 3, 4, 5, 6));
        Map<Colour, Integer> colours = new HashMap<>();
        for (Colour colour : Colour.values()) {
            colours.put(colour, colour.ordinal());
        }
        System.out.println(colours + " " + new Object() + " " + new int[0]);
    }
}
