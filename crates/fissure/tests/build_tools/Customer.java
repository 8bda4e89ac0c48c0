package com.acme;

public class Customer implements Runnable {
    static int payments;

    private final Account account;

    public Customer(Account account) {
        this.account = account;
    }

    public synchronized void pay(int amount) {
        payments++;
        if (account.balance() >= amount) {
            account.take(amount);
        }
    }

    @Override
    public void run() {
        pay(70);
    }
}
