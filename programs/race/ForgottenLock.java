// One of two methods forgets the ReentrantLock.
// fissure: must-find racer data-race ForgottenLock.balance
// fissure: must-find eraser data-race ForgottenLock.balance
import java.util.concurrent.locks.ReentrantLock;

public class ForgottenLock {
    private final ReentrantLock lock = new ReentrantLock();
    private long balance;

    void deposit(long amount) {
        lock.lock();
        try {
            balance += amount;
        } finally {
            lock.unlock();
        }
    }

    void withdraw(long amount) {
        balance -= amount;
    }

    void work() {
        for (int i = 0; i < 500; i++) {
            deposit(10);
            withdraw(10);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ForgottenLock account = new ForgottenLock();
        Thread first = new Thread(account::work);
        Thread second = new Thread(account::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
