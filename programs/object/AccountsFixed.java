// The correct twin: one lock covers both steps.
// fissure: object --core deposit,balance
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

    synchronized void transfer() {
        deposit(Account.SAVINGS, -1);
        // Stands for the work of a real transfer.
        Thread.yield();
        deposit(Account.CHECKING, 1);
    }

    synchronized long total() {
        return balances[0] + balances[1];
    }
}
