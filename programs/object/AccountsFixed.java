// The same with one lock around each of the two.
// fissure: object --core deposit,balance --values 3
// fissure: atomic transfer total
class AccountsFixed {
    enum Account { SAVINGS, CHECKING }

    private final long[] balances = {1, 1};

    synchronized void deposit(Account account, int amount) {
        balances[account.ordinal()] += amount;
    }

    synchronized long balance(Account account) {
        return balances[account.ordinal()];
    }

    synchronized void transfer(int amount) {
        deposit(Account.SAVINGS, -amount);
        deposit(Account.CHECKING, amount);
    }

    synchronized long total() {
        return balance(Account.SAVINGS) + balance(Account.CHECKING);
    }
}
