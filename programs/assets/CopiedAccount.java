// The account of the AssetFuzzer paper's Figures 1 and 5: every access to its fields holds its lock, and there is no data race. But
// the second constructor copies the fields one by one, and interest can be credited between the two copies (pattern 9). isLegal also
// reads both fields one by one, which is harmless: the thread that credits interest is started only after it.
// fissure: must-be-bug 9 CopiedAccount$Account
// fissure: only-unit CopiedAccount$Account.<init>
public class CopiedAccount {
    static final class Account {
        private double checking;
        private double savings;

        Account(double checking, double savings) {
            setChecking(checking);
            setSavings(savings);
        }

        Account(Account other) {
            copyChecking(other);
            copySavings(other);
        }

        boolean isLegal() {
            return getChecking() >= 0 && getSavings() >= 0;
        }

        synchronized void creditInterest(double rate) {
            setChecking(getChecking() * (1 + rate));
            setSavings(getSavings() * (1 + rate));
        }

        synchronized void copyChecking(Account other) {
            setChecking(other.getChecking());
        }

        synchronized void copySavings(Account other) {
            setSavings(other.getSavings());
        }

        synchronized double getChecking() {
            return checking;
        }

        synchronized double getSavings() {
            return savings;
        }

        synchronized void setChecking(double value) {
            checking = value;
        }

        synchronized void setSavings(double value) {
            savings = value;
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
        Account account = new Account(400, 800);
        Thread creditor = new Thread("creditor") {
            @Override
            public void run() {
                busy(12);
                account.creditInterest(0.5);
            }
        };
        Thread copier = new Thread("copier") {
            @Override
            public void run() {
                if (account.isLegal()) {
                    creditor.start();
                    Account copy = new Account(account);
                    if (copy.getSavings() != 2 * copy.getChecking()) {
                        throw new IllegalStateException(copy.getChecking() + " and " + copy.getSavings());
                    }
                    busy(12);
                }
            }
        };
        copier.start();
        copier.join();
        creditor.join();
        System.out.println("done");
    }
}
