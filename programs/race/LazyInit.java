// Lazy initialisation without any lock: both threads may build the banner.
// Eraser reports it only if both of them do.
// fissure: must-find racer data-race LazyInit.banner
// fissure: may-find eraser data-race LazyInit.banner
public class LazyInit {
    private static String banner;

    static String banner() {
        if (banner == null) {
            banner = "built by " + Thread.currentThread().getName();
        }
        return banner;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(LazyInit::banner, "first");
        Thread second = new Thread(LazyInit::banner, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
