// The correct twin of SignalBeforeAwait: a field stores that the door is open, and main checks it in a loop around the await.
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public class SignalBeforeAwaitFixed {
    static class Door {
        private final Lock lock = new ReentrantLock();
        private final Condition opened = lock.newCondition();
        private boolean isOpen;

        void enter() {
            lock.lock();
            try {
                while (!isOpen) {
                    opened.awaitUninterruptibly();
                }
            } finally {
                lock.unlock();
            }
        }

        void open() {
            lock.lock();
            try {
                isOpen = true;
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
