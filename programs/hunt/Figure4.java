// Figure 4 of the AtomFuzzer paper: the second block is executed only if the input says so, and here it does not.
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

    /** Each payer has a lock of its own, which makes its method a block that should be atomic and keeps nobody out. */
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
