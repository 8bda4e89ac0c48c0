// Locks taken again and again, with some work under each: accounts with synchronized methods, one register under a
// ReentrantLock, two threads.
import java.util.concurrent.locks.ReentrantLock;

public class LockHeavy {
    static class Account {
        private final int number;
        private long balance;
        private int moves;

        Account(int number) {
            this.number = number;
            this.balance = 1000;
        }

        synchronized void move(long amount) {
            balance += amount;
            moves++;
        }
    }

    static class Register {
        private final ReentrantLock lock = new ReentrantLock();
        private long checksum;

        void note(long seed) {
            lock.lock();
            try {
                long hash = seed;
                for (int i = 0; i < 40; i++) {
                    hash = (hash ^ (hash >>> 29)) * 0x9E3779B97F4A7C15L;
                }
                checksum += hash;
            } finally {
                lock.unlock();
            }
        }
    }

    static void trade(Account[] accounts, Register register, int rounds) {
        int random = rounds;
        for (int i = 0; i < rounds; i++) {
            random = random * 1103515245 + 12345;
            Account from = accounts[(random >>> 8) & 63];
            Account to = accounts[(random >>> 16) & 63];
            int fee = 0;
            for (int step = 0; step < 20; step++) {
                fee = (fee + from.number * step) ^ to.number;
            }
            from.move(-(fee & 7));
            to.move(fee & 7);
            if ((i & 15) == 0) {
                register.note(random);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account[] accounts = new Account[64];
        for (int i = 0; i < accounts.length; i++) {
            accounts[i] = new Account(i);
        }
        Register register = new Register();
        Kernel.measure(args, scale -> {
            Kernel.inThreads(2, () -> {
                for (int round = 0; round < 40 * scale; round++) {
                    trade(accounts, register, 100_000);
                }
            });
            return accounts;
        });
    }
}
