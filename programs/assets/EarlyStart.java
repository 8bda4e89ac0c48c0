// Pattern 8: a method sets one field, starts the second thread of the program, and sets another field that belongs to the first. The new
// thread may see the one without the other. The unit of work begins in the single-threaded phase of the program.
// fissure: must-be-bug 8 EarlyStart$Feed
public class EarlyStart {
    static final class Feed {
        private int opened;
        private int limit;
        private Thread reader;

        void open(int size) {
            opened = size;
            reader = new Thread(this::read);
            reader.start();
            limit = size;
        }

        private void read() {
            int available = opened;
            int most = limit;
            if (available > most) {
                throw new IllegalStateException(available + " of " + most);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Feed feed = new Feed();
        feed.open(12);
        feed.reader.join();
    }
}
