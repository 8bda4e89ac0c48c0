// Two workers call size and then remove on a Vector; each call is locked, but a removal between the two makes remove fail.
// fissure: must-be-bug atomicity-violation VectorTake$Worker.takeLast
import java.util.List;
import java.util.Vector;

public class VectorTake {
    static class Worker extends Thread {
        private final Vector<String> jobs;
        private String job;

        Worker(Vector<String> jobs) {
            this.jobs = jobs;
        }

        synchronized void takeLast() {
            int size = jobs.size();
            if (size > 0) {
                job = jobs.remove(size - 1);
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
