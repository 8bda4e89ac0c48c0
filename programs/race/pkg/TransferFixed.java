// The correct twin: a transfer locks both accounts, always in the same order.
// fissure: must-find-ordered racer com.acme.bank.TransferFixed$Account.balance
package com.acme.bank;

public class TransferFixed {
    static class Account {
        private final int number;
        private long balance;

        Account(int number, long balance) {
            this.number = number;
            this.balance = balance;
        }
    }

    static void transfer(Account from, Account to, long amount) {
        Account lower = from.number < to.number ? from : to;
        Account higher = lower == from ? to : from;
        synchronized (lower) {
            synchronized (higher) {
                from.balance -= amount;
                to.balance += amount;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account alice = new Account(1, 1000);
        Account bob = new Account(2, 1000);
        Thread first = new Thread(() -> {
            for (int i = 0; i < 100; i++) {
                transfer(alice, bob, 1);
            }
        });
        Thread second = new Thread(() -> {
            for (int i = 0; i < 100; i++) {
                transfer(bob, alice, 1);
            }
        });
        first.start();
        second.start();
        first.join();
        second.join();
        if (alice.balance != 1000 || bob.balance != 1000) {
            throw new AssertionError(alice.balance);
        }
        System.out.println("done");
    }
}
