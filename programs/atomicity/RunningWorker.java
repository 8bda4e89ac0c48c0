// The run method of a thread is not expected to be atomic, but the synchronized method that it calls is.
// fissure: must-find atomizer atomicity-violation RunningWorker.work
public class RunningWorker implements Runnable {
    private final StringBuffer log;

    RunningWorker(StringBuffer log) {
        this.log = log;
    }

    @Override
    public synchronized void run() {
        work();
    }

    private synchronized void work() {
        log.append("a");
        log.append("b");
    }

    public static void main(String[] args) throws InterruptedException {
        StringBuffer log = new StringBuffer();
        Thread one = new Thread(new RunningWorker(log));
        Thread other = new Thread(new RunningWorker(log));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
