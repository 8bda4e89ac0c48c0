// The reader calls containsKey and then get on a concurrent map; a remove between the two calls makes get return null.
// fissure: must-be-bug failure CheckedMap.read
// fissure: program-exit 0
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

public class CheckedMap {
    private final ConcurrentMap<String, String> entries = new ConcurrentHashMap<>();

    void read() {
        if (entries.containsKey("key")) {
            System.out.println(entries.get("key").length());
        }
    }

    public static void main(String[] args) throws InterruptedException {
        CheckedMap map = new CheckedMap();
        map.entries.put("key", "value");
        Thread reader = new Thread(map::read);
        Thread remover = new Thread(() -> map.entries.remove("key"));
        reader.start();
        remover.start();
        reader.join();
        remover.join();
    }
}
