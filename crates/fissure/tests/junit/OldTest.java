package com.acme;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class OldTest {
    private int plain;

    @Test
    public void twoCount() throws Exception {
        Thread other = new Thread(() -> plain++);
        other.start();
        plain++;
        other.join();
        assertEquals(2, plain);
    }
}
