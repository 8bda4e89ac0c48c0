// The example of the Racer paper with all of its static fields under the lock of the class.
public class PaperTaskFixed implements Runnable {
    static int shared;
    static int sharedProtected;
    int notShared;

    @Override
    public void run() {
        synchronized (PaperTaskFixed.class) {
            shared++;
            sharedProtected++;
        }
        notShared++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(new PaperTaskFixed());
        Thread second = new Thread(new PaperTaskFixed());
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
