// The correct twin of Figure2: the account checks and withdraws under one lock.
public class Figure2Fixed {
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

        synchronized void withdrawIfPossible(int amount) {
            if (getBalance() >= amount) {
                withdraw(amount);
            }
        }
    }

    static class Payer {
        private final Account account;

        Payer(Account account) {
            this.account = account;
        }

        synchronized void pay() {
            account.withdrawIfPossible(70);
        }
    }

    static void busy(Object[] locks) {
        for (Object lock : locks) {
            synchronized (lock) {
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account account = new Account();
        Thread first = new Thread(new Payer(account)::pay, "T1");
        Payer payer = new Payer(account);
        Object[] locks = {new Object(), new Object(), new Object(), new Object(), new Object(), new Object()};
        Thread second = new Thread("T2") {
            @Override
            public void run() {
                busy(locks);
                payer.pay();
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
