// The captured array is its own lock.
public class LambdaArrayFixed {
    public static void main(String[] args) throws InterruptedException {
        int[] hits = new int[1];
        Runnable work = () -> {
            for (int i = 0; i < 1000; i++) {
                synchronized (hits) {
                    hits[0]++;
                }
            }
        };
        Thread first = new Thread(work);
        Thread second = new Thread(work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (hits[0] != 2000) {
            throw new AssertionError(hits[0]);
        }
        System.out.println("done");
    }
}
