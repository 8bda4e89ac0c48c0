// Virtual threads sleep and wait while they hold monitors, so that they leave their carrier in between, and may continue on another one (from
// JDK 24 on; before that they keep it). Both fields are accessed under a common lock all the same.
// fissure: release 21
public class VirtualUnmountsFixed {
    private static final Object COMMON = new Object();

    static final class Account {
        private int balance;
        private int total;
    }

    static void work(Account account, Object lock, int number) {
        try {
            synchronized (COMMON) {
                account.balance = number;
                Thread.sleep(2);
                account.balance = -number;
            }
            synchronized (COMMON) {
                account.balance = number;
                COMMON.wait(2);
                account.balance = -number;
            }
            synchronized (lock) {
                Thread.sleep(1);
                account.total = number;
            }
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account account = new Account();
        Thread[] threads = new Thread[6];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            Object lock = i % 2 == 0 ? COMMON : COMMON;
            threads[i] = Thread.ofVirtual().name("worker-" + i).start(() -> work(account, lock, number));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }
}
