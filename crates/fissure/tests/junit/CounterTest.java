package com.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CounterTest {
    private static int executed;
    private ExecutorService pool;
    private int plain;
    private final AtomicInteger atomic = new AtomicInteger();

    @BeforeEach
    void open() {
        pool = Executors.newFixedThreadPool(2);
        // Static fields are fresh in every run.
        assertEquals(1, ++executed);
    }

    @AfterEach
    void close() throws Exception {
        pool.shutdown();
        assertTrue(pool.awaitTermination(1, TimeUnit.MINUTES));
    }

    private void twice(Runnable task) throws Exception {
        Future<?> first = pool.submit(task);
        Future<?> second = pool.submit(task);
        first.get();
        second.get();
    }

    @Test
    @Tag("threads")
    @DisplayName("zwei zählen ☺")
    void twoCount() throws Exception {
        twice(() -> plain++);
        assertEquals(2, plain);
    }

    @Test
    @Tag("threads")
    @Timeout(5)
    void twoCountWithAnAtomic() throws Exception {
        twice(atomic::incrementAndGet);
        assertEquals(2, atomic.get());
    }

    @ParameterizedTest
    @ValueSource(ints = 7)
    void countsAlone(int times) {
        for (int i = 0; i < times; i++) {
            plain++;
        }
        assertEquals(times, plain);
    }
}
