// A ledger is made when it is first needed, by a check without a lock; a violation of a synchronized block happens beside it in every run.
// fissure: must-be-bug failure LazyLedger.main
// fissure: cause ledger LazyLedger.ledger:12 LazyLedger.ledger:13
// fissure: not-cause audits
// fissure: repair
public class LazyLedger {
    static LazyLedger ledger;
    private int entries;
    private int audits;

    static LazyLedger ledger() {
        if (ledger == null) {
            ledger = new LazyLedger();
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
            LazyLedger own = ledger();
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
