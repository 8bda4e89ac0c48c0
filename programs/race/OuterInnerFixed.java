// Inner and outer class agree on the outer object as the lock of both fields.
public class OuterInnerFixed {
    private int total;

    class Worker implements Runnable {
        private int handled;

        @Override
        public void run() {
            for (int i = 0; i < 100; i++) {
                synchronized (OuterInnerFixed.this) {
                    handled++;
                    total += 2;
                }
            }
        }
    }

    synchronized void superviseOnce(Worker worker) {
        worker.handled++;
        total++;
    }

    public static void main(String[] args) throws InterruptedException {
        OuterInnerFixed office = new OuterInnerFixed();
        Worker worker = office.new Worker();
        Thread first = new Thread(worker);
        Thread second = new Thread(() -> {
            for (int i = 0; i < 100; i++) {
                office.superviseOnce(worker);
            }
        });
        first.start();
        second.start();
        first.join();
        second.join();
        if (office.total != 300 || worker.handled != 200) {
            throw new AssertionError(office.total);
        }
        System.out.println("done");
    }
}
