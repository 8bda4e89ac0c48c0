// The correct twin of ArrayTotal: the threads add under a lock.
public class ArrayTotalFixed {
    public static void main(String[] args) throws InterruptedException {
        int[] total = {0};
        Object lock = new Object();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            int amount = i + 1;
            threads[i] = new Thread(() -> {
                synchronized (lock) {
                    total[0] += amount;
                }
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
