// The correct variant of EarlyStart: the thread starts when both fields are set.
// fissure: nothing-predicted
public class EarlyStartFixed {
    static final class Feed {
        private int opened;
        private int limit;
        private Thread reader;

        void open(int size) {
            opened = size;
            limit = size;
            reader = new Thread(this::read);
            reader.start();
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
