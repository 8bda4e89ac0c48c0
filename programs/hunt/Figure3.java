// Figure 3 of the AtomFuzzer paper, correct: a common lock protects both blocks, though each of them locks the account twice.
// fissure: must-warn atomicity-violation Figure3$Payer.pay:*
public class Figure3 {
    static class Account {
        private int balance = 100;

        synchronized int getBalance() {
            return balance;
        }

        synchronized void withdraw(int amount) {
            balance -= amount;
            if (balance < 0) {
                throw new AssertionError("balance " + balance);
            }
        }
    }

    static class Payer {
        private final Account account;
        private final Object lock;

        Payer(Account account, Object lock) {
            this.account = account;
            this.lock = lock;
        }

        void pay() {
            synchronized (lock) {
                if (account.getBalance() >= 70) {
                    account.withdraw(70);
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account account = new Account();
        Object lock = new Object();
        Thread first = new Thread(new Payer(account, lock)::pay, "T1");
        Thread second = new Thread(new Payer(account, lock)::pay, "T2");
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
