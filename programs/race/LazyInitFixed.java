// Lazy initialisation under the lock of the class.
public class LazyInitFixed {
    private static String banner;

    static synchronized String banner() {
        if (banner == null) {
            banner = "built by " + Thread.currentThread().getName();
        }
        return banner;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(LazyInitFixed::banner, "first");
        Thread second = new Thread(LazyInitFixed::banner, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
