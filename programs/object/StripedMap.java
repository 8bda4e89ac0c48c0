// A map with two locked stripes. size adds up the stripes one after the other and may return a number that the map never had;
// clear empties the stripes one after the other, and putBoth puts one key after the other.
// fissure: object --core put,get,remove
// fissure: non-atomic size clear putBoth
// fissure: atomic putIfAbsent
import java.util.HashMap;
import java.util.Map;

public class StripedMap {
    private final Map<Integer, Integer> even = new HashMap<>();
    private final Map<Integer, Integer> odd = new HashMap<>();

    private Map<Integer, Integer> stripe(int key) {
        return key % 2 == 0 ? even : odd;
    }

    public Integer put(int key, int value) {
        Map<Integer, Integer> stripe = stripe(key);
        synchronized (stripe) {
            return stripe.put(key, value);
        }
    }

    public Integer get(int key) {
        Map<Integer, Integer> stripe = stripe(key);
        synchronized (stripe) {
            return stripe.get(key);
        }
    }

    public Integer remove(int key) {
        Map<Integer, Integer> stripe = stripe(key);
        synchronized (stripe) {
            return stripe.remove(key);
        }
    }

    public Integer putIfAbsent(int key, int value) {
        Map<Integer, Integer> stripe = stripe(key);
        synchronized (stripe) {
            return stripe.putIfAbsent(key, value);
        }
    }

    public void putBoth(int first, int second) {
        put(first, 7);
        put(second, 7);
    }

    public int size() {
        int size;
        synchronized (even) {
            size = even.size();
        }
        synchronized (odd) {
            return size + odd.size();
        }
    }

    public void clear() {
        synchronized (even) {
            even.clear();
        }
        synchronized (odd) {
            odd.clear();
        }
    }
}
