// Each call of the synchronized map is atomic, the two together are not: another thread can close the session between them.
// fissure: must-find atomizer atomicity-violation CheckThenAct.open
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

public class CheckThenAct {
    private final Map<String, Integer> sessions = Collections.synchronizedMap(new HashMap<>());
    private int opened;

    synchronized void open(String name) {
        if (!sessions.containsKey(name)) {
            sessions.put(name, ++opened);
        }
    }

    void close(String name) {
        sessions.remove(name);
    }

    public static void main(String[] args) throws InterruptedException {
        CheckThenAct server = new CheckThenAct();
        Thread one = new Thread(() -> server.open("a"));
        Thread other = new Thread(() -> server.close("a"));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
