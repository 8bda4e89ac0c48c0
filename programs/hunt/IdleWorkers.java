// Tasks of two pools check the balance and then withdraw, without a lock across both. Idle workers of the pools wait with a time-out
// inside the JDK: such a wait is not a sleep of the program.
// fissure: must-be-bug failure IdleWorkers$Account.withdraw
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

public final class IdleWorkers {
    static final class Account {
        private int balance = 100;

        synchronized int balance() {
            return balance;
        }

        synchronized void withdraw(int amount) {
            balance -= amount;
            if (balance < 0) {
                throw new IllegalStateException("overdrawn: " + balance);
            }
        }
    }

    private static void warmUp(ExecutorService pool) throws Exception {
        List<Future<?>> first = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            first.add(pool.submit(() -> {}));
        }
        for (Future<?> future : first) {
            future.get();
        }
    }

    private static void withdraw(Account account) {
        if (account.balance() >= 70) {
            account.withdraw(70);
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService cached = Executors.newCachedThreadPool();
        ExecutorService stealing = new ForkJoinPool(3);
        warmUp(cached);
        warmUp(stealing);
        Account account = new Account();
        Future<?> first = cached.submit(() -> withdraw(account));
        Future<?> second = stealing.submit(() -> withdraw(account));
        try {
            first.get();
            second.get();
        } catch (ExecutionException e) {
            throw (RuntimeException) e.getCause();
        } finally {
            cached.shutdown();
            stealing.shutdown();
        }
        System.out.println("done");
    }
}
