// The correct twin of Philosophers: forks are taken in the order of their numbers.
public class PhilosophersFixed {
    private static final int SEATS = 3;

    static class Philosopher extends Thread {
        private final Object left;
        private final Object right;
        private int meals;

        Philosopher(int seat, Object left, Object right) {
            super("philosopher " + seat);
            this.left = left;
            this.right = right;
        }

        void eat() {
            synchronized (left) {
                synchronized (right) {
                    meals++;
                }
            }
        }

        @Override
        public void run() {
            eat();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Object[] forks = new Object[SEATS];
        for (int i = 0; i < SEATS; i++) {
            forks[i] = new Object();
        }
        Philosopher[] philosophers = new Philosopher[SEATS];
        for (int i = 0; i < SEATS; i++) {
            philosophers[i] = new Philosopher(i, forks[Math.min(i, (i + 1) % SEATS)], forks[Math.max(i, (i + 1) % SEATS)]);
        }
        for (Philosopher philosopher : philosophers) {
            philosopher.start();
        }
        for (Philosopher philosopher : philosophers) {
            philosopher.join();
        }
    }
}
