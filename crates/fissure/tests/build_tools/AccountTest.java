package com.acme;

import org.junit.Test;

public class AccountTest {
    @Test
    public void twoPay() throws InterruptedException {
        Account account = new Account();
        Thread alice = new Thread(new Customer(account), "alice");
        Thread bob = new Thread(new Customer(account), "bob");
        alice.start();
        bob.start();
        alice.join();
        bob.join();
        if (account.balance() < 0) {
            throw new AssertionError("more was paid than there was");
        }
    }
}
