package bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class ThreadsNUMBERTest {
    private int balance;

    private synchronized int balance() {
        return balance;
    }

    private synchronized void set(int value) {
        balance = value;
    }

    @Test
    void twoDeposit() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> first = pool.submit(() -> set(balance() + NUMBER));
        Future<?> second = pool.submit(() -> set(balance() + NUMBER));
        first.get();
        second.get();
        pool.shutdown();
        assertEquals(2 * NUMBER, balance());
    }
}
