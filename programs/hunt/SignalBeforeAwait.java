// The signal of a Condition goes to those who wait for it by then; the one who comes later waits for ever.
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
