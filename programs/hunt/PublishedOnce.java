// Correct: the writer publishes the answer by a volatile flag; a reader that does not see the flag does not read the answer.
public class PublishedOnce {
    private int answer;
    private volatile boolean isReady;

    void publish() {
        answer = 42;
        isReady = true;
    }

    void look() {
        if (isReady && answer != 42) {
            throw new IllegalStateException("answer " + answer);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        PublishedOnce box = new PublishedOnce();
        Thread reader = new Thread(box::look);
        Thread writer = new Thread(box::publish);
        reader.start();
        writer.start();
        reader.join();
        writer.join();
    }
}
