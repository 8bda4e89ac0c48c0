// A transfer moves money between accounts in two locked steps. A transfer of zero changes nothing, and there is no other update method:
// few sequential runs show that transfer is an update, but its code does.
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
