// A SubmissionPublisher of the JDK hands items to subscribers in other threads.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByPublisher$Item.value
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SubmissionPublisher;

public class ByPublisher {
    static class Item {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Item item = new Item();
        CountDownLatch consumed = new CountDownLatch(1);
        SubmissionPublisher<Item> publisher = new SubmissionPublisher<>();
        publisher.consume(given -> {
            given.value++;
            consumed.countDown();
        });
        publisher.submit(item);
        item.value++;
        consumed.await();
        publisher.close();
        System.out.println("done");
    }
}
