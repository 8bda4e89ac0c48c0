// The correct twin of ClosedMeanwhile: the sender reads the field once.
public class ClosedMeanwhileFixed {
    private volatile StringBuilder connection = new StringBuilder();

    void send() {
        StringBuilder open = connection;
        if (open != null) {
            open.append("data");
        }
    }

    void close() {
        connection = null;
    }

    public static void main(String[] args) throws InterruptedException {
        ClosedMeanwhileFixed client = new ClosedMeanwhileFixed();
        Thread sender = new Thread(client::send);
        Thread closer = new Thread(client::close);
        sender.start();
        closer.start();
        sender.join();
        closer.join();
    }
}
