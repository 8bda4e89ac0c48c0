// A class initializer starts a thread and goes on to count in the same field of another class.
// fissure: must-find racer data-race InitializerThread$Visits.count
// fissure: must-find eraser data-race InitializerThread$Visits.count
public class InitializerThread {
    static class Visits {
        static int count;
    }

    static class Counter implements Runnable {
        @Override
        public void run() {
            for (int i = 0; i < 10; i++) {
                Visits.count++;
            }
        }
    }

    static class Service {
        static final Thread worker = new Thread(new Counter());

        static {
            worker.start();
            new Counter().run();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Service.worker.join();
        System.out.println("done");
    }
}
