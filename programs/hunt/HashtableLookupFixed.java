// The correct twin of HashtableLookup: one call of getOrDefault does both.
import java.util.Hashtable;

public class HashtableLookupFixed {
    static class Phone {
        private final Hashtable<String, String> book;
        private int dialled;

        Phone(Hashtable<String, String> book) {
            this.book = book;
        }

        synchronized void call(String name) {
            dialled += book.getOrDefault(name, "").length();
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
