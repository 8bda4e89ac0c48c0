// Figure 4 of the AtomFuzzer paper: the second thread pays only if the input says so, which it does not here: a warning, but no violation.
// fissure: must-warn atomicity-violation Figure4$Payer.pay
// fissure: stdin n
import java.io.IOException;

public class Figure4 {
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

    /** Each payer has its own lock: it marks the method as a block that should be atomic, but excludes no other thread. */
    static class Payer {
        private final Account account;

        Payer(Account account) {
            this.account = account;
        }

        synchronized void pay() {
            if (account.getBalance() >= 70) {
                account.withdraw(70);
            }
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Account account = new Account();
        int answer = System.in.read();
        Thread first = new Thread(new Payer(account)::pay, "T1");
        Payer payer = new Payer(account);
        Thread second = new Thread("T2") {
            @Override
            public void run() {
                if (answer == 'y') {
                    payer.pay();
                }
            }
        };
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
