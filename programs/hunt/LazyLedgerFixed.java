// LazyLedger with a synchronized method.
public class LazyLedgerFixed {
    static LazyLedgerFixed ledger;
    private int entries;
    private int audits;

    static synchronized LazyLedgerFixed ledger() {
        if (ledger == null) {
            ledger = new LazyLedgerFixed();
        }
        return ledger;
    }

    synchronized void book() {
        entries++;
    }

    synchronized void audit() {
        audits = audits + entries;
    }

    public static void main(String[] args) throws InterruptedException {
        Runnable work = () -> {
            LazyLedgerFixed own = ledger();
            own.book();
            own.audit();
        };
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (ledger.entries != 2) {
            throw new IllegalStateException(ledger.entries + " entries");
        }
    }
}
