// Figure 1 with locks of java.util.concurrent: a ReentrantLock guards the account, and main waits on a Condition for the end.
// fissure: must-be-bug atomicity-violation LockedCheck$Payer.pay
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

public class LockedCheck {
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
            if (account.getBalance() >= 70) {
                account.withdraw(70);
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
