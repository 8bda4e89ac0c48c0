// A concurrent sorted set compares new elements with elements that other threads have added.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByComparator$Box.compared
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

public class ByComparator {
    static class Box implements Comparable<Box> {
        private final int key;
        int compared;

        Box(int key) {
            this.key = key;
        }

        @Override
        public int compareTo(Box other) {
            compared++;
            other.compared++;
            return Integer.compare(key, other.key);
        }
    }

    static class Adder extends Thread {
        private final Set<Box> set;
        private final int first;

        Adder(Set<Box> set, int first) {
            this.set = set;
            this.first = first;
        }

        @Override
        public void run() {
            for (int i = 0; i < 20; i++) {
                set.add(new Box(first + 2 * i));
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Set<Box> set = new ConcurrentSkipListSet<>();
        Thread even = new Adder(set, 0);
        Thread odd = new Adder(set, 1);
        even.start();
        odd.start();
        even.join();
        odd.join();
        System.out.println("done");
    }
}
