// Two accounts. A transfer takes from one and gives to the other in two locked steps, and the total of a moment between them is
// wrong. The class and its methods are not public, and one of them takes an enumeration.
// fissure: object --core deposit,balance --values 3
// fissure: non-atomic transfer total
class Accounts {
    enum Account { SAVINGS, CHECKING }

    private final long[] balances = {1, 1};

    synchronized void deposit(Account account, int amount) {
        balances[account.ordinal()] += amount;
    }

    synchronized long balance(Account account) {
        return balances[account.ordinal()];
    }

    void transfer(int amount) {
        deposit(Account.SAVINGS, -amount);
        deposit(Account.CHECKING, amount);
    }

    long total() {
        return balance(Account.SAVINGS) + balance(Account.CHECKING);
    }
}
