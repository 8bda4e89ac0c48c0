// A bounded cache. A hit moves the entry to the end in two locked steps; another thread does not find it between them. The method put is
// correct, although the violation involves it.
// fissure: non-atomic get
// fissure: atomic put size
import java.util.LinkedHashMap;
import java.util.Map;

public class BoundedCache {
    private final Map<String, Integer> entries = new LinkedHashMap<>();
    private final int capacity;

    public BoundedCache(int capacity) {
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
        Integer value;
        synchronized (entries) {
            value = entries.remove(key);
        }
        if (value != null) {
            synchronized (entries) {
                entries.put(key, value);
            }
        }
        return value;
    }

    public int size() {
        synchronized (entries) {
            return entries.size();
        }
    }
}
