// The correct twin of LockedCheck: the payer holds the account's lock, which is reentrant, from the check to the withdrawal.
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class LockedCheckFixed {
    static class Account {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition();
        private int balance = 100;
        private int asked;

        int getBalance() {
            lock.lock();
            try {
                return balance;
            } finally {
                lock.unlock();
            }
        }

        void withdraw(int amount) {
            lock.lock();
            try {
                balance -= amount;
                if (balance < 0) {
                    throw new IllegalStateException("balance " + balance);
                }
            } finally {
                lock.unlock();
            }
        }

        void done() {
            lock.lock();
            try {
                asked++;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        void awaitAll(int payers) throws InterruptedException {
            lock.lock();
            try {
                while (asked < payers) {
                    changed.await();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    static class Payer extends Thread {
        private final Account account;

        Payer(Account account) {
            this.account = account;
        }

        synchronized void pay() {
            account.lock.lock();
            try {
                if (account.getBalance() >= 70) {
                    account.withdraw(70);
                }
            } finally {
                account.lock.unlock();
            }
        }

        @Override
        public void run() {
            try {
                pay();
            } finally {
                account.done();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account account = new Account();
        new Payer(account).start();
        new Payer(account).start();
        account.awaitAll(2);
    }
}
