// The correct twin: one lock covers both steps.
// fissure: object --core balance
// fissure: atomic transfer
public class LedgerFixed {
    private final int[] balances = {10, 10, 10, 10};

    public synchronized int balance(int account) {
        return balances[account % 4];
    }

    public synchronized boolean transfer(int from, int to, int amount) {
        if (amount == 0 || from == to) {
            return false;
        }
        change(from, -amount);
        change(to, amount);
        return true;
    }

    private synchronized void change(int account, int amount) {
        balances[account % 4] += amount;
    }
}
