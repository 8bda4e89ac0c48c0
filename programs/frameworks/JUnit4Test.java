// A test whose counter loses an update in some schedules, and another one that never fails.
import static org.junit.Assert.assertEquals;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.Test;

public class JUnit4Test {
    private int visits;

    private void visit() {
        int before = visits;
        visits = before + 1;
    }

    @Test
    public void everyVisitCounts() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<?> first = pool.submit(this::visit);
        Future<?> second = pool.submit(this::visit);
        first.get();
        second.get();
        pool.shutdown();
        assertEquals(2, visits);
    }

    @Test
    public void nothingIsVisitedAtFirst() {
        assertEquals(0, visits);
    }
}
