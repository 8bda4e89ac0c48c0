// Two transfers in opposite directions each take the ReentrantLock of their source account first: deadlock.
// fissure: must-be-bug deadlock LockOrder.transfer
import java.util.concurrent.locks.ReentrantLock;

public class LockOrder {
    static class Account {
        private final int number;
        private final ReentrantLock lock = new ReentrantLock();
        private int balance = 100;

        Account(int number) {
            this.number = number;
        }
    }

    static void transfer(Account from, Account to, int amount) {
        from.lock.lock();
        try {
            to.lock.lock();
            try {
                from.balance -= amount;
                to.balance += amount;
            } finally {
                to.lock.unlock();
            }
        } finally {
            from.lock.unlock();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account left = new Account(1);
        Account right = new Account(2);
        Thread first = new Thread(() -> transfer(left, right, 10), "to the right");
        Thread second = new Thread(() -> transfer(right, left, 20), "to the left");
        first.start();
        second.start();
        first.join();
        second.join();
        if (left.balance + right.balance != 200) {
            throw new IllegalStateException(left.balance + " and " + right.balance);
        }
    }
}
