// Both methods hold the ReentrantLock, one by lock and one by lockInterruptibly.
import java.util.concurrent.locks.ReentrantLock;

public class ForgottenLockFixed {
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
        try {
            lock.lockInterruptibly();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        try {
            balance -= amount;
        } finally {
            lock.unlock();
        }
    }

    void work() {
        for (int i = 0; i < 500; i++) {
            deposit(10);
            withdraw(10);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        ForgottenLockFixed account = new ForgottenLockFixed();
        Thread first = new Thread(account::work);
        Thread second = new Thread(account::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (account.balance != 0) {
            throw new AssertionError(account.balance);
        }
        System.out.println("done");
    }
}
