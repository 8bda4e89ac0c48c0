// Two threads increment by a synchronized getter and a synchronized setter; no lock covers both calls, and an increment is lost.
// fissure: must-be-bug failure LockedAccessors.main
// fissure: program-exit 1
public class LockedAccessors {
    private int level;

    synchronized int level() {
        return level;
    }

    synchronized void setLevel(int level) {
        this.level = level;
    }

    void raise() {
        int known = level();
        setLevel(known + 1);
    }

    public static void main(String[] args) throws InterruptedException {
        LockedAccessors tank = new LockedAccessors();
        Runnable work = tank::raise;
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (tank.level() != 2) {
            throw new IllegalStateException("level " + tank.level());
        }
    }
}
