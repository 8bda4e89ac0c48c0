// A synchronized map whose putIfAbsent checks and puts in two steps: two threads may both be told that the key was absent.
// fissure: non-atomic putIfAbsent
// fissure: atomic size
import java.util.HashMap;
import java.util.Map;

public class LazyMap {
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

    public Object putIfAbsent(Object key, Object value) {
        Object there = get(key);
        if (there == null) {
            put(key, value);
        }
        return there;
    }
}
