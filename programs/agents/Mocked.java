// A program with one race, whose classes Mockito changes while they are in use: they are mocked inline, so that the JVM is
// asked to transform them again.
import org.mockito.MockedStatic;
import org.mockito.Mockito;

public class Mocked {
    static final class Account {
        private int balance;
        private int guarded;

        int balance() {
            return balance;
        }

        void deposit(int amount) {
            balance += amount;
            synchronized (this) {
                guarded += amount;
            }
        }

        synchronized int guarded() {
            return guarded;
        }

        static String bank() {
            return "bank";
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account account = new Account();
        account.deposit(1);
        Account mock = Mockito.mock(Account.class);
        Mockito.when(mock.balance()).thenReturn(42);
        Account spy = Mockito.spy(account);
        Mockito.doReturn(7).when(spy).guarded();
        try (MockedStatic<Account> banks = Mockito.mockStatic(Account.class)) {
            banks.when(Account::bank).thenReturn("mocked");
            System.out.println(Account.bank());
        }
        Thread one = new Thread(() -> account.deposit(2));
        Thread two = new Thread(() -> account.deposit(3));
        one.start();
        two.start();
        one.join();
        two.join();
        spy.deposit(4);
        System.out.println(mock.balance() + " " + spy.guarded() + " " + account.guarded() + " " + Account.bank());
    }
}
