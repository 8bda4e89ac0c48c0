// The correct twin of LazyInstance: the initialization is synchronized.
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

public class LazyInstanceFixed {
    private static LazyInstanceFixed instance;

    private static synchronized LazyInstanceFixed instance() {
        if (instance == null) {
            instance = new LazyInstanceFixed();
        }
        return instance;
    }

    public static void main(String[] args) throws InterruptedException {
        Set<LazyInstanceFixed> seen = Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
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
