// Synchronous queues, exchangers, synchronized lists and computeIfAbsent of maps hand objects to another thread.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByHandOver$Queued.value
// fissure: must-find racer data-race ByHandOver$Exchanged.value
// fissure: must-find racer data-race ByHandOver$Listed.value
// fissure: must-find racer data-race ByHandOver$Made.value
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Exchanger;
import java.util.concurrent.SynchronousQueue;

public class ByHandOver {
    static class Queued {
        int value;
    }

    static class Exchanged {
        int value;
    }

    static class Listed {
        int value;
    }

    static class Made {
        int value;
    }

    private static final Map<String, Made> MADE = new ConcurrentHashMap<>();

    public static void main(String[] args) throws InterruptedException {
        SynchronousQueue<Queued> queue = new SynchronousQueue<>();
        Exchanger<Exchanged> exchanger = new Exchanger<>();
        List<Listed> list = Collections.synchronizedList(new ArrayList<>());
        list.add(new Listed());
        Listed listed = list.get(0);
        Thread thread = new Thread(() -> {
            try {
                queue.take().value++;
                exchanger.exchange(new Exchanged()).value++;
            } catch (InterruptedException exception) {
                throw new IllegalStateException(exception);
            }
            list.iterator().next().value++;
            MADE.computeIfAbsent("key", key -> new Made()).value++;
        });
        thread.start();
        Queued queued = new Queued();
        Exchanged exchanged = new Exchanged();
        queue.put(queued);
        queued.value++;
        exchanger.exchange(exchanged);
        exchanged.value++;
        listed.value++;
        MADE.computeIfAbsent("key", key -> new Made()).value++;
        thread.join();
        System.out.println("done");
    }
}
