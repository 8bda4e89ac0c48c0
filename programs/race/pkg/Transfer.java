// A transfer between two accounts locks only the source account.
// fissure: must-find racer data-race com.acme.bank.Transfer$Account.balance
// fissure: may-find eraser data-race com.acme.bank.Transfer$Account.balance
// fissure: may-find atomizer atomicity-violation com.acme.bank.Transfer.transfer:17
package com.acme.bank;

public class Transfer {
    static class Account {
        private long balance;

        Account(long balance) {
            this.balance = balance;
        }
    }

    static void transfer(Account from, Account to, long amount) {
        synchronized (from) {
            from.balance -= amount;
            to.balance += amount;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account alice = new Account(1000);
        Account bob = new Account(1000);
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
        System.out.println("done");
    }
}
