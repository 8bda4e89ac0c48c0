// The program ends while daemon threads still run, hold locks and touch fields.
public class Daemons {
    private static volatile boolean busy;
    private static long turns;

    static void spin() {
        while (true) {
            synchronized (Daemons.class) {
                turns++;
            }
            busy = true;
        }
    }

    static synchronized void waitForever() {
        while (true) {
            try {
                Daemons.class.wait();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    public static void main(String[] args) {
        for (Runnable body : new Runnable[] {Daemons::spin, Daemons::waitForever}) {
            Thread thread = new Thread(body);
            thread.setDaemon(true);
            thread.start();
        }
        while (!busy) {
            Thread.yield();
        }
        System.out.println("main ends");
    }
}
