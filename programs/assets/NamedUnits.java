// Only the configuration says that a method of another class must see a consistent pair of fields of the account (pattern 9), and that
// the field `looks` is not in their atomic set.
// fissure: config units = ['Auditor.audit']
// fissure: config exclude = ['Account.looks']
// fissure: config [[atomic-sets.set]]
// fissure: config fields = ['Account.checking', 'Account.savings']
// fissure: must-confirm 9 NamedUnits$Account
public class NamedUnits {
    static final class Account {
        private int checking = 10;
        private int savings = 20;
        private int looks;

        synchronized void pay(int amount) {
            checking -= amount;
            savings += amount;
        }

        synchronized int checking() {
            looks++;
            return checking;
        }

        synchronized int savings() {
            looks++;
            return savings;
        }
    }

    static final class Auditor {
        int audit(Account account) {
            return account.checking() + account.savings();
        }
    }

    // Unrelated work of the thread.
    static void busy(int times) {
        Object own = new Object();
        for (int i = 0; i < times; i++) {
            synchronized (own) {
                own.hashCode();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Account account = new Account();
        Thread auditor = new Thread("auditor") {
            @Override
            public void run() {
                new Auditor().audit(account);
                busy(8);
            }
        };
        Thread payer = new Thread("payer") {
            @Override
            public void run() {
                busy(8);
                account.pay(5);
            }
        };
        auditor.start();
        payer.start();
        auditor.join();
        payer.join();
        System.out.println("done");
    }
}
