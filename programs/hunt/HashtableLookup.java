// The caller calls containsKey and then get on a Hashtable; a remove between the two calls makes get return null.
// fissure: must-be-bug atomicity-violation HashtableLookup$Phone.call
import java.util.Hashtable;

public class HashtableLookup {
    static class Phone {
        private final Hashtable<String, String> book;
        private int dialled;

        Phone(Hashtable<String, String> book) {
            this.book = book;
        }

        synchronized void call(String name) {
            if (book.containsKey(name)) {
                dialled += book.get(name).length();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Hashtable<String, String> book = new Hashtable<>();
        book.put("ann", "555 1234");
        Phone phone = new Phone(book);
        Thread caller = new Thread(() -> phone.call("ann"), "caller");
        Thread remover = new Thread(() -> book.remove("ann"), "remover");
        caller.start();
        remover.start();
        caller.join();
        remover.join();
    }
}
