// Thread.getState returns the same states as without Fissure.
import java.util.concurrent.locks.LockSupport;

public class ThreadStates {
    static void expect(Thread thread, Thread.State state) throws InterruptedException {
        for (int i = 0; i < 5_000 && thread.getState() != state; i++) {
            Thread.sleep(1);
        }
        System.out.println(thread.getName() + " " + thread.getState());
    }

    static Thread daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void waitOn(Object lock, long millis) {
        synchronized (lock) {
            try {
                lock.wait(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static synchronized void enter() {
        System.out.println("entered");
    }

    public static void main(String[] args) throws InterruptedException {
        expect(new Thread("new"), Thread.State.NEW);
        expect(daemon("parked", LockSupport::park), Thread.State.WAITING);
        expect(daemon("waiting", () -> waitOn(new Object(), 0)), Thread.State.WAITING);
        expect(daemon("timed", () -> waitOn(new Object(), 60_000)), Thread.State.TIMED_WAITING);
        Thread blocked;
        synchronized (ThreadStates.class) {
            blocked = daemon("blocked", ThreadStates::enter);
            expect(blocked, Thread.State.BLOCKED);
        }
        blocked.join();
        expect(blocked, Thread.State.TERMINATED);
    }
}
