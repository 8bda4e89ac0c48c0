package com.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TroubleTest {
    private volatile boolean isOver;

    @Test
    void failsAlways() {
        assertEquals(2, 1 + 2, "cannot add");
    }

    @Test
    void neverEnds() throws InterruptedException {
        while (!isOver) {
            Thread.sleep(1);
        }
    }

    @Test
    void exits() {
        System.exit(0);
    }

    @Test
    void startsAProcess() throws Exception {
        assertEquals(0, new ProcessBuilder("true").start().waitFor());
    }
}
