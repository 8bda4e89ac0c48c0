// Two threads append to a StringBuilder without a lock, and the text of one of them is lost.
// fissure: must-be-bug failure SharedText.main
// fissure: program-exit 1
public class SharedText {
    private static final StringBuilder LOG = new StringBuilder();

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> LOG.append("hello "));
        Thread second = new Thread(() -> LOG.append("world "));
        first.start();
        second.start();
        first.join();
        second.join();
        if (LOG.length() != 12) {
            throw new IllegalStateException("something is missing");
        }
    }
}
