// The correct twin: the map's own lock is held from the check to the put.
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

public class CheckThenActFixed {
    private final Map<String, Integer> sessions = Collections.synchronizedMap(new HashMap<>());
    private int opened;

    synchronized void open(String name) {
        synchronized (sessions) {
            if (!sessions.containsKey(name)) {
                sessions.put(name, ++opened);
            }
        }
    }

    void close(String name) {
        sessions.remove(name);
    }

    public static void main(String[] args) throws InterruptedException {
        CheckThenActFixed server = new CheckThenActFixed();
        Thread one = new Thread(() -> server.open("a"));
        Thread other = new Thread(() -> server.close("a"));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
