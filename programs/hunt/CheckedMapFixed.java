// The correct twin of CheckedMap: the reader calls get once.
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

public class CheckedMapFixed {
    private final ConcurrentMap<String, String> entries = new ConcurrentHashMap<>();

    void read() {
        String value = entries.get("key");
        if (value != null) {
            System.out.println(value.length());
        }
    }

    public static void main(String[] args) throws InterruptedException {
        CheckedMapFixed map = new CheckedMapFixed();
        map.entries.put("key", "value");
        Thread reader = new Thread(map::read);
        Thread remover = new Thread(() -> map.entries.remove("key"));
        reader.start();
        remover.start();
        reader.join();
        remover.join();
    }
}
