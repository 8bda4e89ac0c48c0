// A test whose counter loses an update in some schedules, and another one that never fails.
import static org.testng.Assert.assertEquals;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.testng.annotations.Test;

public class TestNgTest {
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
        assertEquals(visits, 2);
    }

    @Test
    public void nothingIsVisitedAtFirst() {
        assertEquals(new TestNgTest().visits, 0);
    }
}
