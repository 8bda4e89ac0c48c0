// TwoChecks with a lock for each check and its update.
public class TwoChecksFixed {
    private boolean byName;
    private boolean byCard;
    private int guests;
    private int visits;

    synchronized void enter() {
        if (!byName) {
            byName = true;
            guests++;
        }
    }

    synchronized void pass() {
        if (!byCard) {
            byCard = true;
            guests++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        TwoChecksFixed door = new TwoChecksFixed();
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
