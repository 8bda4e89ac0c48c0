// The correct twin of LockedAccessors: one synchronized method reads and writes.
public class LockedAccessorsFixed {
    private int level;

    synchronized int level() {
        return level;
    }

    synchronized void setLevel(int level) {
        this.level = level;
    }

    synchronized void raise() {
        level++;
    }

    public static void main(String[] args) throws InterruptedException {
        LockedAccessorsFixed tank = new LockedAccessorsFixed();
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
