// The boxed counter has a lock beside it that stays the same.
public class BoxedLockFixed {
    private static final Object lock = new Object();
    private static Integer count = 0;

    static void work() {
        for (int i = 0; i < 1000; i++) {
            synchronized (lock) {
                count++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(BoxedLockFixed::work);
        Thread second = new Thread(BoxedLockFixed::work);
        first.start();
        second.start();
        first.join();
        second.join();
        if (count != 2000) {
            throw new AssertionError(count);
        }
        System.out.println("done");
    }
}
