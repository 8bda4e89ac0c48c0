// The correct twin of VectorTake: the Vector's lock is held from size to remove.
import java.util.List;
import java.util.Vector;

public class VectorTakeFixed {
    static class Worker extends Thread {
        private final Vector<String> jobs;
        private String job;

        Worker(Vector<String> jobs) {
            this.jobs = jobs;
        }

        synchronized void takeLast() {
            synchronized (jobs) {
                int size = jobs.size();
                if (size > 0) {
                    job = jobs.remove(size - 1);
                }
            }
        }

        @Override
        public void run() {
            takeLast();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Vector<String> jobs = new Vector<>(List.of("only"));
        Worker first = new Worker(jobs);
        Worker second = new Worker(jobs);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
