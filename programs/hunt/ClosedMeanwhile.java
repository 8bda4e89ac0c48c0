// The sender checks that the connection is not null and then uses it; a close between the two reads causes a NullPointerException.
// fissure: must-be-bug failure ClosedMeanwhile.send
// fissure: program-exit 0
public class ClosedMeanwhile {
    private volatile StringBuilder connection = new StringBuilder();

    void send() {
        if (connection != null) {
            connection.append("data");
        }
    }

    void close() {
        connection = null;
    }

    public static void main(String[] args) throws InterruptedException {
        ClosedMeanwhile client = new ClosedMeanwhile();
        Thread sender = new Thread(client::send);
        Thread closer = new Thread(client::close);
        sender.start();
        closer.start();
        sender.join();
        closer.join();
    }
}
