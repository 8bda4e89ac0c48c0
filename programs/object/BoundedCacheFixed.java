// The correct twin: a hit moves the entry in one locked step.
// fissure: atomic get put size
import java.util.LinkedHashMap;
import java.util.Map;

public class BoundedCacheFixed {
    private final Map<String, Integer> entries = new LinkedHashMap<>();
    private final int capacity;

    public BoundedCacheFixed(int capacity) {
        this.capacity = capacity;
    }

    public void put(String key, int value) {
        synchronized (entries) {
            entries.remove(key);
            if (entries.size() == capacity) {
                entries.remove(entries.keySet().iterator().next());
            }
            entries.put(key, value);
        }
    }

    public Integer get(String key) {
        synchronized (entries) {
            Integer value = entries.remove(key);
            if (value != null) {
                entries.put(key, value);
            }
            return value;
        }
    }

    public int size() {
        synchronized (entries) {
            return entries.size();
        }
    }
}
