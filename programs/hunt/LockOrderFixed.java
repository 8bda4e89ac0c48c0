// The correct twin of LockOrder: the locks are taken in the order of the account numbers.
import java.util.concurrent.locks.ReentrantLock;

public class LockOrderFixed {
    static class Account {
        private final int number;
        private final ReentrantLock lock = new ReentrantLock();
        private int balance = 100;

        Account(int number) {
            this.number = number;
        }
    }

    static void transfer(Account from, Account to, int amount) {
        ReentrantLock outer = from.number < to.number ? from.lock : to.lock;
        ReentrantLock inner = from.number < to.number ? to.lock : from.lock;
        outer.lock();
        try {
            inner.lock();
            try {
                from.balance -= amount;
                to.balance += amount;
            } finally {
                inner.unlock();
            }
        } finally {
            outer.unlock();
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
