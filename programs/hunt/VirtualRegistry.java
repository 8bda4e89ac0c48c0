// Virtual threads of a factory create a connection if a map has none yet. Two of them may create one each, because the check
// and the insertion are two operations.
// fissure: release 21
// fissure: must-be-bug failure VirtualRegistry.main
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

public class VirtualRegistry {
    private static final Map<String, Integer> CONNECTIONS = new ConcurrentHashMap<>();
    private static final AtomicInteger CREATED = new AtomicInteger();

    static void connect() {
        if (!CONNECTIONS.containsKey("server")) {
            CONNECTIONS.put("server", CREATED.incrementAndGet());
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ThreadFactory factory = Thread.ofVirtual().name("client-", 0).factory();
        try (ExecutorService executor = Executors.newThreadPerTaskExecutor(factory)) {
            executor.execute(VirtualRegistry::connect);
            executor.execute(VirtualRegistry::connect);
        }
        if (CREATED.get() != 1) {
            throw new IllegalStateException("connections created: " + CREATED);
        }
    }
}
