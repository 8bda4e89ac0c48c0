// Section 5.4 of the AtomFuzzer paper: a request takes two numbers, and another thread may take one between them. The interleaving
// is feasible but intended: it causes no failure.
// fissure: must-confirm atomicity-violation UniqueIds$Request.send
public class UniqueIds {
    private static int count;

    static synchronized int getUniqueId() {
        count++;
        return count;
    }

    static class Request {
        private int sent;

        synchronized void send() {
            int request = getUniqueId();
            int answer = getUniqueId();
            if (request >= answer) {
                throw new IllegalStateException(request + " and " + answer);
            }
            sent++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> new Request().send());
        Thread second = new Thread(UniqueIds::getUniqueId);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
