// A thread searches the index of an element and then removes at that index; a removal by another thread between them shifts it.
// fissure: must-be-bug atomicity-violation SynchronizedListIndex$Queue.leave
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

public class SynchronizedListIndex {
    static class Queue {
        private final List<String> people;

        Queue(List<String> people) {
            this.people = people;
        }

        synchronized void leave(String name) {
            int place = people.indexOf(name);
            people.remove(place);
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
