// Two threads exchange bids, and each of them updates the best bid if the one that it got is better. The check and the update are two
// steps, so that a lower bid may replace a higher one.
// fissure: must-be-bug failure ExchangedBids.main
import java.util.concurrent.Exchanger;

public class ExchangedBids {
    private static final Exchanger<Integer> EXCHANGER = new Exchanger<>();
    private static int best;

    static void update(int bid) {
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
