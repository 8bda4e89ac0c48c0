// The correct twin of SharedList: the threads add under a lock.
import java.util.ArrayList;
import java.util.List;

public class SharedListFixed {
    private static final List<Integer> results = new ArrayList<>(8);

    static void add(int result) {
        synchronized (results) {
            results.add(result);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> add(1));
        Thread second = new Thread(() -> add(2));
        first.start();
        second.start();
        first.join();
        second.join();
        if (results.size() != 2) {
            throw new IllegalStateException("lost a result: " + results);
        }
    }
}
