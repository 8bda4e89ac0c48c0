// The run method of a thread is not expected to be atomic, even if it is synchronized.
public class RunningWorkerFixed implements Runnable {
    private final StringBuffer log;

    RunningWorkerFixed(StringBuffer log) {
        this.log = log;
    }

    @Override
    public synchronized void run() {
        log.append("a");
        log.append("b");
    }

    public static void main(String[] args) throws InterruptedException {
        StringBuffer log = new StringBuffer();
        Thread one = new Thread(new RunningWorkerFixed(log));
        Thread other = new Thread(new RunningWorkerFixed(log));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
