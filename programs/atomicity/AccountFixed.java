// The correct twin: the balance's lock is held from the check to the withdrawal.
public class AccountFixed {
    static class Balance {
        private int amount = 100;

        synchronized int get() {
            return amount;
        }

        synchronized void take(int wanted) {
            amount -= wanted;
        }
    }

    static class Bank {
        private final Balance balance;

        Bank(Balance balance) {
            this.balance = balance;
        }

        synchronized void withdraw(int wanted) {
            synchronized (balance) {
                if (balance.get() >= wanted) {
                    balance.take(wanted);
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Balance balance = new Balance();
        Thread one = new Thread(() -> new Bank(balance).withdraw(70));
        Thread other = new Thread(() -> new Bank(balance).withdraw(30));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
