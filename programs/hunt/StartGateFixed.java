// The correct twin of StartGate: one synchronized method assigns the seat if it is free.
import java.util.concurrent.CountDownLatch;

public class StartGateFixed {
    static class Plan {
        private String passenger;

        synchronized void assignIfFree(String name) {
            if (passenger == null) {
                passenger = name;
            }
        }
    }

    static class Seat {
        private final Plan plan;

        Seat(Plan plan) {
            this.plan = plan;
        }

        synchronized void book(String name) {
            plan.assignIfFree(name);
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
