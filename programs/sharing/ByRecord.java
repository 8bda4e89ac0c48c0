// The components of a record are read only by its generated methods, for which there is no source code.
// fissure: release 17
// fissure: must-find racer data-race ByRecord$Box.asked
// fissure: must-find racer data-race ByRecord$Other.asked
import java.util.HashSet;
import java.util.Set;

public class ByRecord {
    static class Box {
        int asked;

        @Override
        public int hashCode() {
            asked++;
            return 1;
        }

        @Override
        public boolean equals(Object other) {
            if (other instanceof Box) {
                ((Box) other).asked++;
            }
            return other == this;
        }
    }

    static class Other {
        int asked;

        @Override
        public String toString() {
            asked++;
            return "other";
        }
    }

    record Key(Box box) {}

    record Pair(Key key, Other other) {}

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Other other = new Other();
        Set<Key> keys = new HashSet<>();
        keys.add(new Key(box));
        Pair pair = new Pair(null, other);
        Thread thread = new Thread(() -> {
            keys.contains(new Key(new Box()));
            String.valueOf(pair);
        });
        thread.start();
        box.asked++;
        other.asked++;
        thread.join();
        System.out.println("done");
    }
}
