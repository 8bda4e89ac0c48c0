// A latch starts two threads together; both check that a seat is free and then assign it. A second latch signals their end.
// fissure: must-be-bug atomicity-violation StartGate$Seat.book
import java.util.concurrent.CountDownLatch;

public class StartGate {
    static class Plan {
        private String passenger;

        synchronized boolean isFree() {
            return passenger == null;
        }

        synchronized void assign(String name) {
            if (passenger != null) {
                throw new IllegalStateException(passenger + " sits there");
            }
            passenger = name;
        }
    }

    static class Seat {
        private final Plan plan;

        Seat(Plan plan) {
            this.plan = plan;
        }

        synchronized void book(String name) {
            if (plan.isFree()) {
                plan.assign(name);
            }
        }
    }

    static void passenger(Plan plan, String name, CountDownLatch gate, CountDownLatch done) {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        try {
            new Seat(plan).book(name);
        } finally {
            done.countDown();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Plan plan = new Plan();
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(2);
        new Thread(() -> passenger(plan, "ann", gate, done), "ann").start();
        new Thread(() -> passenger(plan, "bob", gate, done), "bob").start();
        gate.countDown();
        done.await();
    }
}
