// Threads use weak references and cleaners while they allocate enough garbage for collections at unpredictable times.
import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Vector;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;

public class Garbage {
    private static final List<String> LOG = Collections.synchronizedList(new ArrayList<>());
    private static final Map<Object, Integer> KEPT_WEAKLY = Collections.synchronizedMap(new WeakHashMap<>());
    private static final Cleaner CLEANER = Cleaner.create();
    private static final AtomicInteger CLEANED = new AtomicInteger();
    private static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[64]);

    public static void main(String[] args) throws InterruptedException {
        AtomicInteger bytes = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                for (int round = 0; round < 40; round++) {
                    byte[] garbage = new byte[1 << 20];
                    garbage[round] = 1;
                    bytes.addAndGet(garbage.length);
                    KEPT_WEAKLY.put(new Object(), round);
                    CLEANER.register(new Object(), () -> CLEANED.incrementAndGet());
                    Object lock = new Object();
                    Vector<Object> vector = new Vector<>();
                    synchronized (lock) {
                        vector.add(BUFFER.get());
                    }
                    if (round % 10 == 0) {
                        LOG.add(number + " " + lock.hashCode() % 1000 + " " + vector.size());
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(bytes.get());
        LOG.forEach(System.out::println);
    }
}
