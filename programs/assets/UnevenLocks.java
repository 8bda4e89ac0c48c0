// Both threads increment a field under a lock, but under different ones: a data race.
// fissure: strategy racefuzzer
// fissure: must-confirm race UnevenLocks$Tally.votes
public class UnevenLocks {
    static final class Tally {
        int votes;
    }

    // Unrelated work of the thread.
    static void busy(int times) {
        Object own = new Object();
        for (int i = 0; i < times; i++) {
            synchronized (own) {
                own.hashCode();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Tally tally = new Tally();
        Object hall = new Object();
        Object office = new Object();
        Thread voter = new Thread("voter") {
            @Override
            public void run() {
                synchronized (hall) {
                    tally.votes++;
                }
                busy(8);
            }
        };
        Thread clerk = new Thread("clerk") {
            @Override
            public void run() {
                busy(8);
                synchronized (office) {
                    tally.votes++;
                }
            }
        };
        voter.start();
        clerk.start();
        voter.join();
        clerk.join();
        System.out.println("done");
    }
}
