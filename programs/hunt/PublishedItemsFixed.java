// Two subscribers of one publisher count what they receive atomically, in threads of the publisher.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicInteger;

public class PublishedItemsFixed {
    private static final AtomicInteger RECEIVED = new AtomicInteger();

    static final class Counter implements Flow.Subscriber<String> {
        private final CountDownLatch completed;

        Counter(CountDownLatch completed) {
            this.completed = completed;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(String item) {
            RECEIVED.incrementAndGet();
        }

        @Override
        public void onError(Throwable failure) {
            throw new IllegalStateException(failure);
        }

        @Override
        public void onComplete() {
            completed.countDown();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch completed = new CountDownLatch(2);
        ExecutorService executor = Executors.newFixedThreadPool(2);
        try (SubmissionPublisher<String> publisher = new SubmissionPublisher<>(executor, 4)) {
            publisher.subscribe(new Counter(completed));
            publisher.subscribe(new Counter(completed));
            publisher.submit("item");
        }
        completed.await();
        executor.shutdown();
        if (RECEIVED.get() != 2) {
            throw new IllegalStateException("received: " + RECEIVED);
        }
    }
}
