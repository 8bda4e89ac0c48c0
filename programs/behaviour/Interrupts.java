// Interrupting a thread that waits, sleeps, joins, or waits for a lock.
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Interrupts {
    interface Blocking {
        void run() throws InterruptedException;
    }

    static void interrupt(String name, Blocking body) throws InterruptedException {
        Thread thread = new Thread(() -> {
            try {
                body.run();
                System.out.println(name + " ended, interrupted " + Thread.interrupted());
            } catch (InterruptedException e) {
                System.out.println(name + " interrupted");
            }
        }, name);
        thread.start();
        while (thread.getState() == Thread.State.NEW || thread.getState() == Thread.State.RUNNABLE) {
            Thread.sleep(1);
        }
        thread.interrupt();
        thread.join();
    }

    public static void main(String[] args) throws InterruptedException {
        Object lock = new Object();
        ReentrantLock held = new ReentrantLock();
        Thread current = Thread.currentThread();
        interrupt("wait", () -> {
            synchronized (lock) {
                lock.wait();
            }
        });
        interrupt("timed wait", () -> {
            synchronized (lock) {
                lock.wait(60_000);
            }
        });
        interrupt("sleep", () -> Thread.sleep(60_000));
        interrupt("join", current::join);
        interrupt("park", () -> {
            while (!Thread.currentThread().isInterrupted()) {
                LockSupport.park();
            }
        });
        held.lock();
        interrupt("lock", held::lockInterruptibly);
        held.unlock();
        System.out.println(Thread.holdsLock(lock));
    }
}
