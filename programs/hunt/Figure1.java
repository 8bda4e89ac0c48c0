// Figure 1 of the AtomFuzzer paper: a payer checks the balance and then withdraws; a withdrawal between the two overdraws the account.
// fissure: must-be-bug atomicity-violation Figure1$Payer.pay
// fissure: hunt --atomic Figure1$Payer.pay
public class Figure1 {
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

    public static void main(String[] args) throws InterruptedException {
        Account account = new Account();
        Thread first = new Thread(new Payer(account)::pay, "T1");
        Thread second = new Thread(new Payer(account)::pay, "T2");
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
