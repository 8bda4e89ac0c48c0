// Accounts between which money is moved in two locked steps. To move nothing changes nothing, so that few sequential runs show that a
// transfer is an update at all, and nothing else is one: only its code tells.
// fissure: object --core balance
// fissure: non-atomic transfer
public class Ledger {
    private final int[] balances = {10, 10, 10, 10};

    public synchronized int balance(int account) {
        return balances[account % 4];
    }

    public boolean transfer(int from, int to, int amount) {
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
