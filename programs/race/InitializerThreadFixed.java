// The correct twin: the class initializer increments before it starts the thread, and thread start orders the two.
// fissure: must-find-ordered racer InitializerThreadFixed$Visits.total
public class InitializerThreadFixed {
    static class Visits {
        static int count;
        static int total;
    }

    static class Counter implements Runnable {
        @Override
        public void run() {
            for (int i = 0; i < 10; i++) {
                Visits.count++;
            }
            Visits.total = Visits.count;
        }
    }

    static class Service {
        static final Thread worker = new Thread(new Counter());

        static {
            new Counter().run();
            worker.start();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Service.worker.join();
        System.out.println(Visits.total == 20 ? "done" : "lost");
    }
}
