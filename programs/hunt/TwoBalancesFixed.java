// The correct twin of TwoBalances: both atomics are changed and read under one lock.
import java.util.concurrent.atomic.AtomicInteger;

public class TwoBalancesFixed {
    private final AtomicInteger checking = new AtomicInteger(100);
    private final AtomicInteger savings = new AtomicInteger();

    synchronized void transfer() {
        checking.addAndGet(-10);
        savings.addAndGet(10);
    }

    synchronized int sum() {
        int first = checking.get();
        return first + savings.get();
    }

    public static void main(String[] args) throws InterruptedException {
        TwoBalancesFixed account = new TwoBalancesFixed();
        Thread clerk = new Thread(account::transfer);
        Thread auditor = new Thread(() -> {
            int sum = account.sum();
            if (sum != 100) {
                throw new IllegalStateException("sum " + sum);
            }
        });
        clerk.start();
        auditor.start();
        clerk.join();
        auditor.join();
    }
}
