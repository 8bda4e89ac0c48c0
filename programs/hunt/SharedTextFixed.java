// The correct twin of SharedText: it uses a StringBuffer.
public class SharedTextFixed {
    private static final StringBuffer LOG = new StringBuffer();

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
