// The correct twin: one lock covers both steps.
// fissure: atomic putIfAbsent size
import java.util.HashMap;
import java.util.Map;

public class LazyMapFixed {
    private final Map<Object, Object> map = new HashMap<>();

    public synchronized Object put(Object key, Object value) {
        return map.put(key, value);
    }

    public synchronized Object get(Object key) {
        return map.get(key);
    }

    public synchronized Object remove(Object key) {
        return map.remove(key);
    }

    public synchronized int size() {
        return map.size();
    }

    public synchronized Object putIfAbsent(Object key, Object value) {
        Object there = get(key);
        if (there == null) {
            put(key, value);
        }
        return there;
    }
}
