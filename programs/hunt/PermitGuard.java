// A semaphore with one permit guards the count, but is released between the read and the write, and an addition is lost.
// fissure: program-exit 3
// fissure: must-be-bug atomicity-violation PermitGuard.add
// fissure: hunt --atomic PermitGuard.add
import java.util.concurrent.Semaphore;

public class PermitGuard {
    private final Semaphore guard = new Semaphore(1);
    private int count;

    void add(int amount) throws InterruptedException {
        guard.acquire();
        int seen = count;
        guard.release();
        guard.acquire();
        count = seen + amount;
        guard.release();
    }

    public static void main(String[] args) throws Exception {
        PermitGuard account = new PermitGuard();
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
