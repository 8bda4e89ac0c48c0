// Two threads exchange bids, and each of them updates the best bid under a lock if the one that it got is better.
import java.util.concurrent.Exchanger;

public class ExchangedBidsFixed {
    private static final Exchanger<Integer> EXCHANGER = new Exchanger<>();
    private static int best;

    static synchronized void update(int bid) {
        if (bid > best) {
            best = bid;
        }
    }

    static void bid(int own) {
        try {
            update(EXCHANGER.exchange(own));
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> bid(3));
        Thread second = new Thread(() -> bid(7));
        first.start();
        second.start();
        first.join();
        second.join();
        if (best != 7) {
            throw new IllegalStateException("the best bid is " + best);
        }
    }
}
