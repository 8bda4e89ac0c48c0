// Two places check and then act, on different fields, and each of them alone can let a second guest in: both are told.
// fissure: must-be-bug failure TwoChecks.main
// fissure: cause byName TwoChecks.enter:14 TwoChecks.enter:15
// fissure: cause byCard TwoChecks.pass:21 TwoChecks.pass:22
// fissure: not-cause visits
// fissure: runs 48
public class TwoChecks {
    private boolean byName;
    private boolean byCard;
    private int guests;
    private int visits;

    void enter() {
        if (!byName) {
            byName = true;
            admit();
        }
    }

    void pass() {
        if (!byCard) {
            byCard = true;
            admit();
        }
    }

    private synchronized void admit() {
        guests++;
    }

    public static void main(String[] args) throws InterruptedException {
        TwoChecks door = new TwoChecks();
        Runnable work = () -> {
            door.visits++;
            door.enter();
            door.pass();
        };
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (door.guests != 2) {
            throw new IllegalStateException(door.guests + " guests");
        }
    }
}
