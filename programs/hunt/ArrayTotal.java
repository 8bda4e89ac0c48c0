// Three threads add to the element of an array that a lambda captures.
// fissure: must-be-bug failure ArrayTotal.main
// fissure: program-exit 1
public class ArrayTotal {
    public static void main(String[] args) throws InterruptedException {
        int[] total = {0};
        Object lock = new Object();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            int amount = i + 1;
            threads[i] = new Thread(() -> {
                total[0] += amount;
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        synchronized (lock) {
            if (total[0] != 6) {
                throw new AssertionError("total " + total[0]);
            }
        }
    }
}
