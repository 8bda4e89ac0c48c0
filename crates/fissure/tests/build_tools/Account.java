package com.acme;

public class Account {
    private int balance = 100;

    public synchronized int balance() {
        return balance;
    }

    public synchronized void take(int amount) {
        balance -= amount;
        if (balance < 0) {
            throw new IllegalStateException("overdrawn: " + balance);
        }
    }
}
