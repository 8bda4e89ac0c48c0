// Three threads add to an array element that a lambda captures, without a lock, and an addition is lost.
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
