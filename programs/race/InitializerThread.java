// A class initializer starts a thread and then increments the same field of another class as that thread.
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
