// Main awaits a Condition without checking a state; if the signal comes before the await, it is lost and main waits for ever.
// fissure: must-be-bug deadlock SignalBeforeAwait$Door.enter
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public class SignalBeforeAwait {
    static class Door {
        private final Lock lock = new ReentrantLock();
        private final Condition opened = lock.newCondition();

        void enter() {
            lock.lock();
            try {
                opened.awaitUninterruptibly();
            } finally {
                lock.unlock();
            }
        }

        void open() {
            lock.lock();
            try {
                opened.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    public static void main(String[] args) {
        Door door = new Door();
        Thread porter = new Thread(door::open, "porter");
        porter.start();
        door.enter();
    }
}
