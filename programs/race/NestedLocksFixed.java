// Each thread holds two locks, and the outer one is held by both.
public class NestedLocksFixed {
    private static final Object common = new Object();
    private static int total;

    static void work(Object inner) {
        for (int i = 0; i < 100; i++) {
            synchronized (common) {
                synchronized (inner) {
                    total++;
                }
                total++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> work(new Object()));
        Thread second = new Thread(() -> work(new Object()));
        first.start();
        second.start();
        first.join();
        second.join();
        if (total != 400) {
            throw new AssertionError(total);
        }
        System.out.println("done");
    }
}
