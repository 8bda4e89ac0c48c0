// Two accounts. A transfer changes one and then the other in two locked steps; a read of the sum between the steps is too
// small. The class and its methods are not public, and some of them take an enumeration.
// fissure: object --core deposit,balance
// fissure: non-atomic transfer
// fissure: atomic total
class Accounts {
    enum Account { SAVINGS, CHECKING }

    private final long[] balances = {1, 1};

    synchronized void deposit(Account account, int amount) {
        balances[account.ordinal()] += amount;
    }

    synchronized long balance(Account account) {
        return balances[account.ordinal()];
    }

    void transfer() {
        deposit(Account.SAVINGS, -1);
        // Stands for the work of a real transfer.
        Thread.yield();
        deposit(Account.CHECKING, 1);
    }

    synchronized long total() {
        return balances[0] + balances[1];
    }
}
