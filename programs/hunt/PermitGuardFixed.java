// The correct twin of PermitGuard: the permit is held from the read to the write.
// fissure: hunt --atomic PermitGuardFixed.add
import java.util.concurrent.Semaphore;

public class PermitGuardFixed {
    private final Semaphore guard = new Semaphore(1);
    private int count;

    void add(int amount) throws InterruptedException {
        guard.acquire();
        int seen = count;
        count = seen + amount;
        guard.release();
    }

    public static void main(String[] args) throws Exception {
        PermitGuardFixed account = new PermitGuardFixed();
        Thread thread = new Thread(() -> {
            try {
                account.add(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.start();
        account.add(2);
        thread.join();
        if (account.count != 3) {
            System.exit(3);
        }
    }
}
