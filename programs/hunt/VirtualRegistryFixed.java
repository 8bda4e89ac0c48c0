// Virtual threads of a factory create a connection if a map has none yet, in one operation of the map.
// fissure: release 21
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

public class VirtualRegistryFixed {
    private static final Map<String, Integer> CONNECTIONS = new ConcurrentHashMap<>();
    private static final AtomicInteger CREATED = new AtomicInteger();

    static void connect() {
        CONNECTIONS.computeIfAbsent("server", server -> CREATED.incrementAndGet());
    }

    public static void main(String[] args) throws InterruptedException {
        ThreadFactory factory = Thread.ofVirtual().name("client-", 0).factory();
        try (ExecutorService executor = Executors.newThreadPerTaskExecutor(factory)) {
            executor.execute(VirtualRegistryFixed::connect);
            executor.execute(VirtualRegistryFixed::connect);
        }
        if (CREATED.get() != 1) {
            throw new IllegalStateException("connections created: " + CREATED);
        }
    }
}
