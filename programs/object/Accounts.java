// Two accounts. A transfer takes from one and gives to the other in two locked steps, and who looks between them sees too
// little. The class and its methods are not public, and some of them take an enumeration.
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
        // Whatever a real transfer does here takes time.
        Thread.yield();
        deposit(Account.CHECKING, 1);
    }

    synchronized long total() {
        return balances[0] + balances[1];
    }
}
