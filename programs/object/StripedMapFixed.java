// The correct twin: methods that access both stripes take both locks, always in the same order.
// fissure: object --core put,get,remove
// fissure: atomic putIfAbsent size clear putBoth
import java.util.HashMap;
import java.util.Map;

public class StripedMapFixed {
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
        synchronized (even) {
            synchronized (odd) {
                put(first, 7);
                put(second, 7);
            }
        }
    }

    public int size() {
        synchronized (even) {
            synchronized (odd) {
                return even.size() + odd.size();
            }
        }
    }

    public void clear() {
        synchronized (even) {
            synchronized (odd) {
                even.clear();
                odd.clear();
            }
        }
    }
}
