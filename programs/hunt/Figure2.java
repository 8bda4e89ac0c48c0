// Figure 2 of the AtomFuzzer paper: one thread enters six empty synchronized blocks before it pays, so a random schedule seldom
// runs the check and the withdrawal of both threads at the same time.
// fissure: must-be-bug atomicity-violation Figure2$Payer.pay
// fissure: hunt --atomic Figure2$Payer.pay
public class Figure2 {
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

        Payer(Account account) {
            this.account = account;
        }

        void pay() {
            if (account.getBalance() >= 70) {
                account.withdraw(70);
            }
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
