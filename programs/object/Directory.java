// Names of hosts. Renaming removes the old name and adds the new one in two steps, which shows only if both names differ: a lookup of both
// finds neither.
// fissure: non-atomic rename
// fissure: atomic register size
import java.util.HashMap;
import java.util.Map;

public class Directory {
    private final Map<String, Integer> hosts = new HashMap<>();

    public synchronized void register(String name, int host) {
        hosts.put(name, host);
    }

    public synchronized Integer lookup(String name) {
        return hosts.get(name);
    }

    public synchronized int size() {
        return hosts.size();
    }

    public boolean rename(String from, String to) {
        Integer host;
        synchronized (this) {
            host = from.equals(to) ? null : hosts.remove(from);
        }
        if (host == null) {
            return false;
        }
        register(to, host);
        return true;
    }
}
