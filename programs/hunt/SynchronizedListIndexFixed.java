// The correct twin of SynchronizedListIndex: the list's lock is held from the search to the removal, as its documentation requires.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class SynchronizedListIndexFixed {
    static class Queue {
        private final List<String> people;

        Queue(List<String> people) {
            this.people = people;
        }

        synchronized void leave(String name) {
            synchronized (people) {
                int place = people.indexOf(name);
                people.remove(place);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        List<String> people = Collections.synchronizedList(new ArrayList<>(List.of("ann", "bob")));
        Thread ann = new Thread(() -> new Queue(people).leave("ann"), "ann");
        Thread bob = new Thread(() -> new Queue(people).leave("bob"), "bob");
        ann.start();
        bob.start();
        ann.join();
        bob.join();
        if (!people.isEmpty()) {
            throw new IllegalStateException("still there: " + people);
        }
    }
}
