// Correct: callers that check and then add hold the lock of the synchronized list for both; all other calls take that lock themselves.
// A call that waits for the lock has not accessed the list yet, so there is nothing to find. Callbacks during a call and a collection
// that only one thread uses do not change that.
// fissure: correct
// fissure: config contents = true
// fissure: nothing-predicted
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

public class LockedByCallers {
    static final class Name {
        private int uses;
        private final String text;

        Name(String text) {
            this.text = text;
        }

        @Override
        public int hashCode() {
            uses++;
            return text.hashCode();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Name && ((Name) other).text.equals(text);
        }
    }

    static final class Guests {
        private final List<Name> list = Collections.synchronizedList(new ArrayList<>());

        void add(Name name) {
            synchronized (list) {
                if (!list.contains(name)) {
                    list.add(name);
                }
            }
        }

        int count() {
            return list.size();
        }

        void addAlways(Name name) {
            list.add(name);
        }

        int countDifferent() {
            Set<Name> different = new HashSet<>();
            synchronized (list) {
                list.forEach(name -> different.add(name));
            }
            return different.size();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Guests guests = new Guests();
        Thread first = new Thread("first") {
            @Override
            public void run() {
                guests.add(new Name("ada"));
                guests.count();
            }
        };
        Thread second = new Thread("second") {
            @Override
            public void run() {
                guests.addAlways(new Name("bob"));
                guests.countDifferent();
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
