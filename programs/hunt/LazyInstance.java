// Lazy initialization of a singleton without a lock: two threads may create two instances.
// fissure: must-be-bug failure LazyInstance.main
// fissure: program-exit 1
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

public class LazyInstance {
    private static LazyInstance instance;

    private static LazyInstance instance() {
        if (instance == null) {
            instance = new LazyInstance();
        }
        return instance;
    }

    public static void main(String[] args) throws InterruptedException {
        Set<LazyInstance> seen = Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
        Runnable work = () -> seen.add(instance());
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (seen.size() != 1) {
            throw new IllegalStateException("there are " + seen.size());
        }
    }
}
