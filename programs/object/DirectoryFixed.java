// The correct twin: renaming is one locked step.
// fissure: atomic rename register size
import java.util.HashMap;
import java.util.Map;

public class DirectoryFixed {
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

    public synchronized boolean rename(String from, String to) {
        Integer host = from.equals(to) ? null : hosts.remove(from);
        if (host == null) {
            return false;
        }
        hosts.put(to, host);
        return true;
    }
}
