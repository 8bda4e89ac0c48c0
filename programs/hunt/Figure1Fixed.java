// The correct twin of Figure1: the account checks and withdraws under one lock.
public class Figure1Fixed {
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
