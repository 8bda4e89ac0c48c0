// The correct twin of AccountTransfer: each thread checks and pays under the account's lock.
public class AccountTransferFixed {
    static final class Account {
        private int balance = 100;

        synchronized int getBalance() {
            return balance;
        }

        synchronized void withdraw(int amount) {
            balance -= amount;
            if (balance < 0) {
                throw new IllegalStateException("overdrawn: " + balance);
            }
        }
    }

    static final class Customer extends Thread {
        private final Account account;

        Customer(String name, Account account) {
            super(name);
            this.account = account;
        }

        @Override
        public void run() {
            synchronized (account) {
                if (account.getBalance() >= 70) {
                    account.withdraw(70);
                }
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Account account = new Account();
        Customer[] customers = {new Customer("alice", account), new Customer("bob", account)};
        for (Customer customer : customers) {
            customer.start();
        }
        for (Customer customer : customers) {
            customer.join();
        }
        System.out.println("balance " + account.getBalance());
    }
}
