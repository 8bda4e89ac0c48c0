// One thread executes operations of every kind in a fixed order, so that the events of a monitor script can be checked line by line.
import java.util.concurrent.locks.ReentrantLock;

public class Points {
    static class Account {
        int balance;
        static int made;
        final ReentrantLock lock = new ReentrantLock();

        Account(int balance) {
            this.balance = balance;
            made++;
        }

        synchronized int read() {
            return balance;
        }

        void fail() {
            synchronized (this) {
                throw new IllegalStateException("on purpose");
            }
        }
    }

    static class Savings extends Account {
        Savings() {
            super(5);
        }
    }

    static int[] log = new int[4];

    static void keep(Object what, int where) {
        log[where] = what.hashCode();
    }

    static synchronized void nothing() {}

    public static void main(String[] args) {
        Account plain = new Account(1);
        Account savings = new Savings();
        plain.read();
        savings.read();
        plain.lock.lock();
        plain.lock.unlock();
        if (plain.lock.tryLock()) {
            plain.lock.unlock();
        }
        keep("text", 0);
        keep(savings, 1);
        nothing();
        try {
            plain.fail();
        } catch (IllegalStateException expected) {
            System.out.println("done");
        }
    }
}
