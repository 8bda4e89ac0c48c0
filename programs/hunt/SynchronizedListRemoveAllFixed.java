// The correct twin of SynchronizedListRemoveAll: the remover locks the other collection first.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class SynchronizedListRemoveAllFixed {
    public static void main(String[] args) throws InterruptedException {
        List<Integer> numbers = Collections.synchronizedList(new ArrayList<>(List.of(1, 2)));
        List<Integer> unwanted = Collections.synchronizedList(new ArrayList<>(List.of(1, 2)));
        Thread remover = new Thread(() -> {
            synchronized (unwanted) {
                numbers.removeAll(unwanted);
            }
        }, "remover");
        Thread pardon = new Thread(unwanted::clear, "pardon");
        remover.start();
        pardon.start();
        remover.join();
        pardon.join();
        if (numbers.size() == 1) {
            throw new IllegalStateException("only " + numbers + " is left");
        }
    }
}
