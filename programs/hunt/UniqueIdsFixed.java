// The twin of UniqueIds: one call takes both numbers.
public class UniqueIdsFixed {
    private static int count;

    static synchronized int takeUniqueIds(int number) {
        count += number;
        return count - number;
    }

    static class Request {
        private int sent;

        synchronized void send() {
            sent = takeUniqueIds(2);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> new Request().send());
        Thread second = new Thread(() -> takeUniqueIds(1));
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
