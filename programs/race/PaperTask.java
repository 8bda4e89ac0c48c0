// The example of the Racer paper (its Figure 1): two tasks in two threads, a static field without a lock, a static
// field under a lock, and a field of each task's own.
// fissure: must-find racer data-race PaperTask.shared
// fissure: must-find eraser data-race PaperTask.shared
public class PaperTask implements Runnable {
    static int shared;
    static int sharedProtected;
    int notShared;

    @Override
    public void run() {
        shared++;
        synchronized (PaperTask.class) {
            sharedProtected++;
        }
        notShared++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(new PaperTask());
        Thread second = new Thread(new PaperTask());
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
