// Ways in which a program can end or hang: the argument selects one. `crates/fissure/tests/endings.rs` states the expected result.

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class Endings {
    static final CountDownLatch BOTH_HOLD_ONE = new CountDownLatch(2);
    static int racy;
    static int quiet;

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "monitors":
                run(false, () -> nested("left", "right"), () -> nested("right", "left"));
                break;
            case "locks":
                Lock one = new ReentrantLock();
                Lock other = new ReentrantLock(true);
                run(false, () -> locked(one, other), () -> locked(other, one));
                break;
            case "mixed":
                Lock lock = new ReentrantLock();
                run(false, () -> lockedThenNested(lock, "left"), () -> nestedThenLocked("left", lock));
                break;
            case "daemons":
                run(true, () -> nested("left", "right"), () -> nested("right", "left"));
                // The program continues in spite of the deadlock, and ends.
                Thread.sleep(300);
                break;
            case "timed":
                Lock first = new ReentrantLock();
                Lock second = new ReentrantLock();
                run(false, () -> tried(first, second), () -> tried(second, first));
                break;
            case "slow":
                slow();
                break;
            case "hangs":
                share();
                new CountDownLatch(1).await();
                break;
            case "races-and-hangs":
                run(false, Endings::increment, Endings::increment);
                new CountDownLatch(1).await();
                break;
            case "races-and-ends-late":
                run(false, Endings::increment, Endings::increment);
                run(false, () -> interleaved(new Object()), () -> interleaved(new Object()));
                Thread.sleep(3_000);
                break;
            case "races-and-is-killed":
                run(false, Endings::increment, Endings::increment);
                long self = ProcessHandle.current().pid();
                new ProcessBuilder("kill", "-9", Long.toString(self)).start().waitFor();
                break;
            case "throws":
                share();
                run(false, Endings::fail, () -> {});
                break;
            case "races-and-throws":
                run(false, Endings::increment, Endings::increment);
                run(false, Endings::fail, () -> {});
                break;
            case "exits":
                share();
                System.exit(3);
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("done");
    }

    /** A block that is meant to be atomic, and acquires a common lock twice. */
    static void interleaved(Object own) {
        synchronized (own) {
            count();
            count();
        }
    }

    static synchronized void count() {
        quiet++;
    }

    /** Two threads increment under a common lock: they share a field, but there is no bug. */
    static void share() throws InterruptedException {
        Runnable counting = () -> {
            synchronized (Endings.class) {
                quiet++;
            }
        };
        run(false, counting, counting);
    }

    /** Long waits of all kinds, also for a contended lock, are not a deadlock. */
    static void slow() throws InterruptedException {
        Object slept = new Object();
        ReentrantLock lock = new ReentrantLock();
        Runnable sleeping = () -> {
            synchronized (slept) {
                lock.lock();
                try {
                    pause(1_200);
                } finally {
                    lock.unlock();
                }
            }
        };
        Runnable waiting = () -> {
            pause(100);
            lock.lock();
            lock.unlock();
        };
        Thread third = new Thread(sleeping, "third");
        third.start();
        run(false, sleeping, waiting);
        third.join();
    }

    static void nested(String held, String wanted) {
        synchronized (held) {
            meet();
            synchronized (wanted) {
                quiet++;
            }
        }
    }

    static void locked(Lock held, Lock wanted) {
        held.lock();
        try {
            meet();
            wanted.lock();
            wanted.unlock();
        } finally {
            held.unlock();
        }
    }

    static void lockedThenNested(Lock held, Object wanted) {
        held.lock();
        try {
            meet();
            synchronized (wanted) {
                quiet++;
            }
        } finally {
            held.unlock();
        }
    }

    static void nestedThenLocked(Object held, Lock wanted) {
        synchronized (held) {
            meet();
            wanted.lock();
            wanted.unlock();
        }
    }

    /** A lock cycle that ends by a time-out. */
    static void tried(Lock held, Lock wanted) {
        held.lock();
        try {
            meet();
            if (wanted.tryLock(1_500, TimeUnit.MILLISECONDS)) {
                wanted.unlock();
            }
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        } finally {
            held.unlock();
        }
    }

    static void increment() {
        racy++;
    }

    static void fail() {
        throw new IllegalStateException("overdrawn");
    }

    static void meet() {
        BOTH_HOLD_ONE.countDown();
        try {
            BOTH_HOLD_ONE.await();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    static void run(boolean areDaemons, Runnable left, Runnable right) throws InterruptedException {
        Thread alice = new Thread(left, "alice");
        Thread bob = new Thread(right, "bob");
        alice.setDaemon(areDaemons);
        bob.setDaemon(areDaemons);
        alice.start();
        bob.start();
        if (!areDaemons) {
            alice.join();
            bob.join();
        }
    }
}
