// A transfer changes two atomics one after the other; an auditor that reads both between the changes sees a wrong sum.
// fissure: must-be-bug failure TwoBalances.lambda$main$0
// fissure: program-exit 0
import java.util.concurrent.atomic.AtomicInteger;

public class TwoBalances {
    private final AtomicInteger checking = new AtomicInteger(100);
    private final AtomicInteger savings = new AtomicInteger();

    void transfer() {
        checking.addAndGet(-10);
        savings.addAndGet(10);
    }

    int sum() {
        int first = checking.get();
        return first + savings.get();
    }

    public static void main(String[] args) throws InterruptedException {
        TwoBalances account = new TwoBalances();
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
